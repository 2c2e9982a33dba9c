// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace agent
{

namespace
{

int64_t now_ms()
{
	using namespace std::chrono;
	return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

void drop(int &fd)
{
	if (fd >= 0)
		close(fd);
	fd = -1;
}

/** In the child, after fork: never returns. @p report tells the parent errno when exec fails, negative when the working
 * directory does. */
[[noreturn]] void run_child(const ExecRequest &request, int report)
{
	std::vector<char *> argv, env;
	for (const auto &s : request.argv)
		argv.push_back(const_cast<char *>(s.c_str()));
	argv.push_back(nullptr);
	for (const auto &s : request.env)
		env.push_back(const_cast<char *>(s.c_str()));
	env.push_back(nullptr);

	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, nullptr);
	std::signal(SIGPIPE, SIG_DFL);

	environ = env.data(); // execvpe would take the path of the agent, not of the command
	const bool entered = request.cwd.empty() || chdir(request.cwd.c_str()) == 0;
	if (entered)
		execvp(argv[0], argv.data());
	const int cause = entered ? errno : -errno;
	(void)!write(report, &cause, sizeof(cause));
	_exit(127);
}

/** What the child said before it became the command (run_child()): 0 when all went well. */
int child_errno(int report)
{
	int cause = 0;
	ssize_t n;
	do
		n = read(report, &cause, sizeof(cause));
	while (n < 0 && errno == EINTR);
	return n == sizeof(cause) ? cause : 0;
}

/** One line for what child_errno() gave. */
std::string why(const ExecRequest &request, int cause)
{
	return (cause < 0 ? request.cwd : request.argv[0]) + ": " + strerror(std::abs(cause));
}

void set_nonblock(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

} // namespace

bool ExecRequest::parse(std::string_view payload)
{
	if (payload.size() < 12)
		return false;
	tty = get32(payload, 0) & EXEC_TTY;
	window = get32(payload, 0) & EXEC_WINDOW;
	const uint32_t argc = get32(payload, 4), envc = get32(payload, 8);
	payload.remove_prefix(12);

	std::vector<std::string> words;
	while (!payload.empty()) {
		const size_t end = payload.find('\0');
		if (end == std::string_view::npos)
			return false;
		words.emplace_back(payload.substr(0, end));
		payload.remove_prefix(end + 1);
	}
	if (argc == 0 || words.size() != size_t{1} + argc + envc)
		return false;
	cwd = words[0];
	argv.assign(words.begin() + 1, words.begin() + 1 + argc);
	env.assign(words.begin() + 1 + argc, words.end());
	return true;
}

Command::Command(uint32_t id, const ExecRequest &request) : id_(id), tty_(request.tty), window_(request.window)
{
	if (tty_)
		start_tty(request);
	else
		start_pipes(request);
}

Command::~Command()
{
	if (in_ != out_)
		drop(in_);
	drop(out_);
	drop(err_);
}

void Command::start_pipes(const ExecRequest &request)
{
	int fds[4][2];
	for (int i = 0; i < 4; i++) {
		if (pipe2(fds[i], O_CLOEXEC) == 0)
			continue;
		error_ = std::string("pipe: ") + strerror(errno);
		while (i-- > 0) {
			close(fds[i][0]);
			close(fds[i][1]);
		}
		return;
	}
	pid_ = fork();
	if (pid_ == 0) {
		setpgid(0, 0);
		dup2(fds[0][0], 0);
		dup2(fds[1][1], 1);
		dup2(fds[2][1], 2);
		run_child(request, fds[3][1]);
	}
	close(fds[0][0]);
	close(fds[1][1]);
	close(fds[2][1]);
	close(fds[3][1]);
	in_ = fds[0][1];
	out_ = fds[1][0];
	err_ = fds[2][0];
	const int cause = pid_ > 0 ? child_errno(fds[3][0]) : errno;
	close(fds[3][0]);
	if (cause)
		error_ = why(request, cause);
	for (const int fd : {in_, out_, err_})
		set_nonblock(fd);
}

void Command::start_tty(const ExecRequest &request)
{
	int report[2];
	if (pipe2(report, O_CLOEXEC)) {
		error_ = std::string("pipe: ") + strerror(errno);
		return;
	}
	int master = -1;
	pid_ = forkpty(&master, nullptr, nullptr, nullptr);
	if (pid_ == 0)
		run_child(request, report[1]);
	close(report[1]);
	const int cause = pid_ > 0 ? child_errno(report[0]) : errno;
	close(report[0]);
	if (cause)
		error_ = why(request, cause);
	if (master < 0)
		return;
	fcntl(master, F_SETFD, FD_CLOEXEC);
	set_nonblock(master);
	in_ = out_ = master;
}

void Command::add_fds(std::vector<pollfd> &fds, bool may_read)
{
	may_read = may_read && (!window_ || room_ > 0);
	if (held_ || !may_read)
		quiet_since_ = now_ms();
	held_ = !may_read;
	if (out_ >= 0 && may_read)
		fds.push_back({out_, POLLIN, 0});
	if (err_ >= 0 && may_read)
		fds.push_back({err_, POLLIN, 0});
	if (in_ >= 0 && !pending_.empty())
		fds.push_back({in_, POLLOUT, 0});
}

void Command::serve(const std::vector<pollfd> &fds, Port &port)
{
	for (const auto &entry : fds) {
		if (!entry.revents || entry.fd < 0)
			continue;
		if (entry.fd == in_ && (entry.events & POLLOUT))
			write_stdin(port);
		else if (entry.fd == out_)
			forward(out_, Kind::Stdout, port);
		else if (entry.fd == err_)
			forward(err_, Kind::Stderr, port);
	}
}

void Command::forward(int &fd, Kind kind, Port &port)
{
	char buf[32768];
	const ssize_t n = read(fd, buf, sizeof(buf));
	if (n > 0) {
		room_ -= n;
		quiet_since_ = now_ms();
		port.send(kind, id_, {buf, static_cast<size_t>(n)});
		return;
	}
	// A terminal whose last user has gone reads as EIO.
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (fd == in_)
		in_ = -1;
	drop(fd);
}

void Command::stdin_data(std::string_view data, Port &port)
{
	if (data.empty()) {
		eof_ = true;
		if (tty_)
			pending_.push_back('\4');
	}
	pending_.append(data);
	write_stdin(port);
}

void Command::write_stdin(Port &port)
{
	while (in_ >= 0 && !pending_.empty()) {
		const ssize_t n = write(in_, pending_.data(), pending_.size());
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) // nobody reads any more
			break;
		taken(static_cast<size_t>(n), port);
		pending_.erase(0, static_cast<size_t>(n));
	}
	// What nobody will read must not hold up who sends it.
	taken(pending_.size(), port);
	pending_.clear();
	if (eof_ && !tty_)
		drop(in_);
}

void Command::taken(size_t bytes, Port &port)
{
	taken_ += static_cast<uint32_t>(bytes);
	if (taken_ < STDIN_STEP)
		return;
	std::string payload;
	put32(payload, taken_);
	port.send(Kind::StdinTaken, id_, payload);
	taken_ = 0;
}

void Command::signal(int number)
{
	if (number == SIGKILL)
		window_ = false;
	if (ok() && !reaped_)
		kill(-pid_, number);
}

void Command::resize(unsigned int rows, unsigned int columns) const
{
	winsize size{};
	size.ws_row = static_cast<unsigned short>(rows);
	size.ws_col = static_cast<unsigned short>(columns);
	if (tty_ && out_ >= 0)
		ioctl(out_, TIOCSWINSZ, &size);
}

void Command::reaped(int status)
{
	status_ = status;
	reaped_ = true;
	quiet_since_ = now_ms();
}

bool Command::finished() const
{
	return reaped_ && ((out_ < 0 && err_ < 0) || (!held_ && now_ms() - quiet_since_ >= GRACE_MS));
}

int Command::wait_ms() const
{
	if (!reaped_ || held_)
		return -1;
	return static_cast<int>(std::max<int64_t>(0, quiet_since_ + GRACE_MS - now_ms()));
}

void Command::report(Port &port) const
{
	std::string payload;
	put32(payload, WIFEXITED(status_) ? static_cast<uint32_t>(WEXITSTATUS(status_)) : 0);
	put32(payload, WIFSIGNALED(status_) ? static_cast<uint32_t>(WTERMSIG(status_)) : 0);
	payload += error_;
	port.send(Kind::Exit, id_, payload);
}

} // namespace agent
