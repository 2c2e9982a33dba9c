/* SPDX-License-Identifier: GPL-2.0-only */
/* Generic netlink, as much of it as devlink's requests need: one request at a time, answers in one buffer. */
#ifndef GENL_H
#define GENL_H

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct genl {
	int fd;
	uint16_t family;
	unsigned int request; /* bytes of it */
	unsigned int answer; /* bytes of attributes of all answers, one after the other */
	char out[2048];
	char in[65536];
};

static inline void genl_begin(struct genl *g, uint16_t family, uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr *head = (void *)g->out;
	struct genlmsghdr *genl = NLMSG_DATA(head);

	memset(g->out, 0, NLMSG_HDRLEN + GENL_HDRLEN);
	head->nlmsg_type = family;
	head->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	genl->cmd = cmd;
	genl->version = 1;
	g->request = NLMSG_HDRLEN + GENL_HDRLEN;
}

static inline void genl_put(struct genl *g, uint16_t type, const void *data, uint16_t bytes)
{
	struct nlattr *attr = (void *)(g->out + g->request);

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + bytes;
	memcpy((char *)attr + NLA_HDRLEN, data, bytes);
	memset((char *)attr + attr->nla_len, 0, NLA_ALIGN(attr->nla_len) - attr->nla_len);
	g->request += NLA_ALIGN(attr->nla_len);
}

static inline void genl_put_text(struct genl *g, uint16_t type, const char *text)
{
	genl_put(g, type, text, strlen(text) + 1);
}

static inline void genl_put_u8(struct genl *g, uint16_t type, uint8_t value)
{
	genl_put(g, type, &value, sizeof(value));
}

/* The attribute of that type among @bytes of them, after @after if that is not NULL; NULL if there is none. */
static inline const struct nlattr *genl_find(const void *attrs, unsigned int bytes, uint16_t type,
					     const struct nlattr *after)
{
	const char *p = attrs, *end = p + bytes;

	while (p + NLA_HDRLEN <= end) {
		const struct nlattr *attr = (const void *)p;

		if (attr->nla_len < NLA_HDRLEN)
			return NULL;
		if ((!after || attr > after) && (attr->nla_type & NLA_TYPE_MASK) == type)
			return attr;
		p += NLA_ALIGN(attr->nla_len);
	}
	return NULL;
}

static inline const void *genl_data(const struct nlattr *attr)
{
	return (const char *)attr + NLA_HDRLEN;
}

static inline unsigned int genl_bytes(const struct nlattr *attr)
{
	return attr->nla_len - NLA_HDRLEN;
}

/* An attribute in another one. */
static inline const struct nlattr *genl_in(const struct nlattr *outer, uint16_t type,
					   const struct nlattr *after)
{
	return outer ? genl_find(genl_data(outer), genl_bytes(outer), type, after) : NULL;
}

static inline uint64_t genl_number(const struct nlattr *attr)
{
	uint64_t value = ~0ull;

	if (!attr)
		return value;
	value = 0;
	memcpy(&value, genl_data(attr), genl_bytes(attr) < 8 ? genl_bytes(attr) : 8);
	return value;
}

/*
 * Takes one message: 1 more follow, 0 it was the last, or -errno. A request ends with its
 * acknowledgement, whatever comes before, a dump with "done".
 */
static inline int genl_message(struct genl *g, const struct nlmsghdr *head)
{
	const int dump = (((struct nlmsghdr *)g->out)->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	unsigned int bytes = head->nlmsg_len - NLMSG_HDRLEN;

	if (head->nlmsg_type == NLMSG_ERROR)
		return ((const struct nlmsgerr *)NLMSG_DATA(head))->error;
	if (head->nlmsg_type == NLMSG_DONE && !dump)
		return 1;
	if (head->nlmsg_type == NLMSG_DONE)
		return bytes >= sizeof(int) ? *(const int *)NLMSG_DATA(head) : 0;
	if (bytes < GENL_HDRLEN)
		return -EBADMSG;
	bytes -= GENL_HDRLEN;
	if (g->answer + bytes > sizeof(g->in))
		return -EMSGSIZE;
	memcpy(g->in + g->answer, (const char *)NLMSG_DATA(head) + GENL_HDRLEN, bytes);
	g->answer += NLA_ALIGN(bytes);
	return 1;
}

/* Sends what was put together, and takes all answers. 0 or -errno, the kernel's or of the socket. */
static inline int genl_ask(struct genl *g)
{
	static char buffer[65536] __attribute__((aligned(8)));
	struct nlmsghdr *head = (void *)g->out;
	int rc = 1;

	head->nlmsg_len = g->request;
	g->answer = 0;
	if (send(g->fd, g->out, g->request, 0) < 0)
		return -errno;
	while (rc == 1) {
		ssize_t n = recv(g->fd, buffer, sizeof(buffer), 0);

		if (n < 0)
			return -errno;
		for (head = (void *)buffer; rc == 1 && NLMSG_OK(head, n); head = NLMSG_NEXT(head, n))
			rc = genl_message(g, head);
	}
	return rc;
}

/* Connects to a family by its name. 0 or -errno. */
static inline int genl_open(struct genl *g, const char *family)
{
	struct sockaddr_nl own = { .nl_family = AF_NETLINK };
	int rc;

	g->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (g->fd < 0 || bind(g->fd, (struct sockaddr *)&own, sizeof(own)))
		return -errno;
	genl_begin(g, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	genl_put_text(g, CTRL_ATTR_FAMILY_NAME, family);
	rc = genl_ask(g);
	if (!rc)
		g->family = genl_number(genl_find(g->in, g->answer, CTRL_ATTR_FAMILY_ID, NULL));
	return rc;
}

#endif /* GENL_H */
