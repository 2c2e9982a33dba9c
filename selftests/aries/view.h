/* SPDX-License-Identifier: GPL-2.0-only */
/* Views in debugfs: lines of words, most of them pairs of a name and a value. */
#ifndef VIEW_H
#define VIEW_H

#include <ctype.h>

#include "aries_test.h"

#define VIEW_DIR "/sys/kernel/debug/aries/kgni0/"
#define VIEW_LINE 2048

/*
 * Copies the first line of a view in which @key has @value (and, if not NULL, @key2 has @value2) to
 * @line; the number of such lines, or -1 if the view cannot be read.
 */
static inline int view_find2(const char *view, const char *key, long long value, const char *key2,
			     long long value2, char *line);

/* The text after word @key of a line, or NULL. */
static inline const char *view_word(const char *line, const char *key)
{
	const size_t length = strlen(key);
	const char *p = line;

	while ((p = strstr(p, key))) {
		if ((p == line || p[-1] == ' ') && p[length] == ' ')
			return p + length + 1;
		p += length;
	}
	return NULL;
}

/* The number after word @key of a line, -1 if there is none. */
static inline long long view_value(const char *line, const char *key)
{
	const char *p = view_word(line, key);

	return p && (isdigit((unsigned char)*p) || *p == '-') ? strtoll(p, NULL, 0) : -1;
}

/* Is the text after word @key this one? */
static inline int view_is(const char *line, const char *key, const char *text)
{
	const char *p = view_word(line, key);
	const size_t length = strlen(text);

	return p && !strncmp(p, text, length) && (p[length] == ' ' || p[length] == '\n');
}

/* Is @word one of the words of a line? */
static inline int view_has(const char *line, const char *word)
{
	const size_t length = strlen(word);
	const char *p = line;

	while ((p = strstr(p, word))) {
		if ((p == line || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\n'))
			return 1;
		p += length;
	}
	return 0;
}

static inline int view_find2(const char *view, const char *key, long long value, const char *key2,
			     long long value2, char *line)
{
	char path[128], text[VIEW_LINE];
	int found = 0;
	FILE *f;

	line[0] = '\0';
	snprintf(path, sizeof(path), VIEW_DIR "%s", view);
	f = fopen(path, "r");
	if (!f)
		return -1;
	while (fgets(text, sizeof(text), f)) {
		if (view_value(text, key) != value || (key2 && view_value(text, key2) != value2))
			continue;
		if (!found++)
			strcpy(line, text);
	}
	fclose(f);
	return found;
}

static inline int view_find(const char *view, const char *key, long long value, char *line)
{
	return view_find2(view, key, value, NULL, 0, line);
}

#endif /* VIEW_H */
