// SPDX-License-Identifier: GPL-2.0-or-later
#include "net/top.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <thread>

#include <unistd.h>

#define NCURSES_NOMACROS
#include <ncurses.h>

#include "net/source.hpp"

namespace aries::net
{

namespace
{

using Clock = std::chrono::steady_clock;

constexpr int ESCAPE = 27, ENTER = '\n', RETURN = '\r', BACKSPACE = 127;
constexpr const char *KEYS = "q quit  Tab table  < > sort  r reverse  / filter  p pause  arrows, PgUp, PgDn";
constexpr short WRONG = 1; // pair of colours

/* The last two samples, and the time between them. */
class Samples
{
public:
	explicit Samples(const std::string &fabric) : source_(fabric) { take(); }

	/** @throws Error if the fabric has ended */
	void take()
	{
		Sample sample = source_.with(sample_of);
		const Clock::time_point time = Clock::now();

		before_ = taken_ ? std::move(now_) : sample;
		seconds_ = taken_ ? std::chrono::duration<double>(time - time_).count() : 1;
		now_ = std::move(sample);
		time_ = time;
		taken_ = true;
	}
	TopView view(const TopChoice &choice) const
	{
		return top_view(before_, now_, std::max(seconds_, 1e-9),
				std::filesystem::path(source_.path()).filename().string(), choice);
	}

private:
	Source source_;
	Sample before_{}, now_{};
	Clock::time_point time_;
	double seconds_ = 1;
	bool taken_ = false;
};

TopRow names_of(const std::vector<TopColumn> &columns)
{
	TopRow names;

	for (const TopColumn &column : columns)
		names.emplace_back(column.name);
	return names;
}

void print(const TopView &view)
{
	for (const std::string &line : view.head)
		std::cout << line << "\n";
	std::cout << top_line(view.columns, names_of(view.columns)) << "\n";
	for (const TopRow &row : view.rows)
		std::cout << top_line(view.columns, row) << "\n";
}

/* A terminal with ncurses, as it was before when this ends in whatever way. */
class Screen
{
public:
	Screen()
	{
		if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
			throw Error("top needs a terminal; --tables N prints N tables without one");
		/* Not initscr(), which ends the program where the terminal is not known. */
		screen_ = newterm(nullptr, stdout, stdin);
		if (!screen_)
			throw Error("the terminal is not known (TERM): --tables N prints N tables");
		set_term(screen_);
		cbreak();
		noecho();
		keypad(stdscr, TRUE);
		curs_set(0);
		set_escdelay(50);
		if (has_colors()) {
			start_color();
			use_default_colors();
			init_pair(WRONG, COLOR_RED, -1);
		}
	}
	~Screen()
	{
		endwin();
		delscreen(screen_);
	}
	Screen(const Screen &) = delete;
	Screen &operator=(const Screen &) = delete;

	void line(int row, const std::string &text, attr_t how = A_NORMAL)
	{
		if (row >= LINES)
			return;
		attrset(static_cast<int>(how));
		/* What does not fit is cut off; markup has no meaning here, and other characters are not printed. */
		std::string shown;

		for (const char c : text.substr(0, static_cast<size_t>(std::max(COLS, 0))))
			shown += std::isprint(static_cast<unsigned char>(c)) ? c : '?';
		mvaddnstr(row, 0, shown.c_str(), -1);
		attrset(A_NORMAL);
	}

private:
	SCREEN *screen_ = nullptr;
};

class Terminal
{
public:
	Terminal(const std::string &fabric, const TopOptions &options)
		: samples_(fabric), choice_(options.choice), interval_(std::chrono::duration_cast<Clock::duration>(
								     std::chrono::duration<double>(options.interval_s)))
	{
	}

	void run()
	{
		Clock::time_point next = Clock::now() + interval_;

		for (;;) {
			draw();
			const auto left =
				std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now()).count();

			timeout(static_cast<int>(std::clamp<int64_t>(left, 0, 1000)));
			const int key = getch();

			if (key != ERR && !typed(key))
				return;
			if (Clock::now() < next)
				continue;
			next = Clock::now() + interval_;
			if (!paused_)
				samples_.take();
		}
	}

private:
	/* Lines above the table, and below it. */
	static int table_begin(const TopView &view) { return static_cast<int>(view.head.size()) + 1; }

	void draw()
	{
		const TopView view = samples_.view(choice_);
		const int begin = table_begin(view), room = std::max(LINES - begin - 2, 0);
		const auto rows = static_cast<int>(view.rows.size());

		page_ = std::max(room, 1);
		first_ = std::clamp(first_, 0, std::max(rows - room, 0));
		erase();
		for (size_t line = 0; line < view.head.size(); line++)
			screen_.line(static_cast<int>(line), view.head[line]);
		screen_.line(begin, top_line(view.columns, names_of(view.columns)), A_REVERSE);
		for (int row = 0; row < std::min(room, rows - first_); row++) {
			const size_t at = static_cast<size_t>(first_) + static_cast<size_t>(row);

			screen_.line(begin + 1 + row, top_line(view.columns, view.rows[at]),
				     view.wrong[at] ? A_BOLD | COLOR_PAIR(WRONG) : A_NORMAL);
		}
		screen_.line(LINES - 1, status(view, rows));
		refresh();
	}

	std::string status(const TopView &view, int rows) const
	{
		if (typing_)
			return "filter: " + choice_.filter + "_";
		return std::to_string(rows) + " rows by " + view.columns[choice_.column].name +
		       (choice_.reversed ? " (reversed)" : "") +
		       (choice_.filter.empty() ? "" : ", with " + choice_.filter) + (paused_ ? ", PAUSED" : "") +
		       "   " + KEYS;
	}

	/* False: the user wants to end. */
	bool typed(int key)
	{
		if (typing_) {
			edit(key);
			return true;
		}
		const auto columns = columns_of(choice_.table).size();

		switch (key) {
		case 'q':
			return false;
		case '\t':
			choice_.table = choice_.table == TopTable::Links ? TopTable::Nodes : TopTable::Links;
			choice_.column = 0;
			first_ = 0;
			break;
		case '<':
			choice_.column = (choice_.column + columns - 1) % columns;
			break;
		case '>':
			choice_.column = (choice_.column + 1) % columns;
			break;
		case 'r':
			choice_.reversed = !choice_.reversed;
			break;
		case '/':
			typing_ = true;
			break;
		case 'p':
		case ' ':
			paused_ = !paused_;
			break;
		default:
			scroll(key);
		}
		return true;
	}

	void scroll(int key)
	{
		switch (key) {
		case KEY_UP:
		case 'k':
			first_--;
			break;
		case KEY_DOWN:
		case 'j':
			first_++;
			break;
		case KEY_PPAGE:
			first_ -= page_;
			break;
		case KEY_NPAGE:
			first_ += page_;
			break;
		case KEY_HOME:
			first_ = 0;
			break;
		case KEY_END:
			first_ = INT32_MAX / 2;
			break;
		default:
			break;
		}
	}

	void edit(int key)
	{
		if (key == ENTER || key == RETURN || key == KEY_ENTER) {
			typing_ = false;
		} else if (key == ESCAPE) {
			typing_ = false;
			choice_.filter.clear();
		} else if (key == KEY_BACKSPACE || key == BACKSPACE || key == '\b') {
			if (!choice_.filter.empty())
				choice_.filter.pop_back();
		} else if (key >= ' ' && key < BACKSPACE) {
			choice_.filter += static_cast<char>(key);
		}
		first_ = 0;
	}

	Samples samples_; // first: without a fabric the terminal is left as it is
	Screen screen_;
	TopChoice choice_;
	const Clock::duration interval_;
	int first_ = 0, page_ = 1;
	bool typing_ = false, paused_ = false;
};

} // namespace

size_t column_of(TopTable table, const std::string &name)
{
	const std::vector<TopColumn> &columns = columns_of(table);
	std::string all;

	for (size_t column = 0; column < columns.size(); column++) {
		std::string word = columns[column].name;

		word = word.substr(0, word.find(' '));
		std::transform(word.begin(), word.end(), word.begin(),
			       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
		if (word == name)
			return column;
		all += (all.empty() ? "" : ", ") + word;
	}
	throw Error("'" + name + "' is no column of this table: " + all);
}

void top(const std::string &fabric, const TopOptions &options)
{
	if (!options.tables) {
		Terminal(fabric, options).run();
		return;
	}
	Samples samples(fabric);

	for (uint32_t table = 0; table < options.tables; table++) {
		std::this_thread::sleep_for(std::chrono::duration<double>(options.interval_s));
		samples.take();
		if (table)
			std::cout << "\n";
		print(samples.view(options.choice));
		std::cout.flush();
	}
}

} // namespace aries::net
