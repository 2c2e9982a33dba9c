// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * gni-agent: runs commands in a guest for the cluster tool.
 *
 * One thread, one poll loop. As process 1 it also reaps orphans. Called as
 * gni-kvs it is the client of the key-value service.
 */
#include "command.hpp"
#include "kvs.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

using namespace agent;

class Agent
{
public:
	Agent(int port, const std::string &socket) : port_(port), kvs_(socket) {}

	int run();

private:
	void handle(Kind kind, uint32_t id, std::string_view payload);
	void hello();
	void exec(uint32_t id, std::string_view payload);
	void reap();
	void sweep();
	std::vector<pollfd> collect(int &timeout) const;
	Command *find(uint32_t id);

	Port port_;
	KvsRelay kvs_;
	int signals_ = -1;
	std::vector<std::unique_ptr<Command>> commands_;
};

void Agent::hello()
{
	utsname name{};
	uname(&name);
	std::string payload;
	put32(payload, VERSION);
	payload.append(name.release).append(" ").append(name.nodename);
	port_.send(Kind::Hello, 0, payload);
}

void Agent::exec(uint32_t id, std::string_view payload)
{
	ExecRequest request;
	std::string answer;
	if (find(id) || !request.parse(payload)) {
		put32(answer, 126);
		put32(answer, 0);
		port_.send(Kind::Exit, id, answer + "malformed request");
		return;
	}
	auto command = std::make_unique<Command>(id, request);
	if (!command->ok()) {
		put32(answer, 126);
		put32(answer, 0);
		port_.send(Kind::Exit, id, answer + command->error());
		return;
	}
	put32(answer, static_cast<uint32_t>(command->pid()));
	port_.send(Kind::Started, id, answer);
	commands_.push_back(std::move(command));
}

Command *Agent::find(uint32_t id)
{
	for (const auto &command : commands_)
		if (command->id() == id)
			return command.get();
	return nullptr;
}

void Agent::handle(Kind kind, uint32_t id, std::string_view payload)
{
	Command *command = find(id);
	switch (kind) {
	case Kind::Hello:
		hello();
		break;
	case Kind::Exec:
		exec(id, payload);
		break;
	case Kind::Stdin:
		if (command)
			command->stdin_data(payload, port_);
		break;
	case Kind::Signal:
		if (command && payload.size() >= 4)
			command->signal(static_cast<int>(get32(payload, 0)));
		break;
	case Kind::Resize:
		if (command && payload.size() >= 8)
			command->resize(get32(payload, 0), get32(payload, 4));
		break;
	case Kind::OutputTaken:
		if (command && payload.size() >= 4)
			command->output_taken(get32(payload, 0));
		break;
	case Kind::KvsReply:
		kvs_.reply(id, payload);
		break;
	case Kind::Poweroff:
		sync();
		reboot(RB_POWER_OFF);
		break;
	default:
		fprintf(stderr, "gni-agent: frame of unknown kind %u\n", static_cast<unsigned int>(kind));
	}
}

void Agent::reap()
{
	signalfd_siginfo info;
	while (read(signals_, &info, sizeof(info)) == sizeof(info))
		;
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (const auto &command : commands_)
			if (command->pid() == pid)
				command->reaped(status);
}

void Agent::sweep()
{
	for (auto it = commands_.begin(); it != commands_.end();) {
		if ((*it)->finished()) {
			(*it)->report(port_);
			it = commands_.erase(it);
		} else {
			++it;
		}
	}
}

std::vector<pollfd> Agent::collect(int &timeout) const
{
	const short port_events = static_cast<short>(POLLIN | (port_.wants_write() ? POLLOUT : 0));
	std::vector<pollfd> fds{{port_.fd(), port_events, 0}, {signals_, POLLIN, 0}};
	timeout = -1;
	for (const auto &command : commands_) {
		command->add_fds(fds, !port_.congested());
		const int ms = command->wait_ms();
		if (ms >= 0 && (timeout < 0 || ms < timeout))
			timeout = ms;
	}
	kvs_.add_fds(fds);
	return fds;
}

int Agent::run()
{
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, nullptr);
	std::signal(SIGPIPE, SIG_IGN);
	signals_ = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);

	for (;;) {
		int timeout;
		std::vector<pollfd> fds = collect(timeout);
		if (poll(fds.data(), fds.size(), timeout) < 0 && errno != EINTR)
			return 1;
		if (fds[0].revents & POLLOUT)
			port_.flush();
		if (fds[0].revents & (POLLIN | POLLHUP)) {
			const bool open =
				port_.receive([this](Kind k, uint32_t i, std::string_view p) { handle(k, i, p); });
			// The port reads as closed until the host comes (back); nothing tells when.
			if (!open)
				usleep(100000);
		}
		if (fds[1].revents)
			reap();
		for (const auto &command : commands_)
			command->serve(fds, port_);
		kvs_.serve(fds, port_);
		sweep();
	}
}

constexpr char help_text[] = R"(usage: gni-agent [PORT]
       gni-agent kvs REQUEST...

Runs commands in a guest for the cluster tool, and relays requests to its key-value service from the
socket /run/opengni/kvs.sock. With kvs, or under the name gni-kvs, it is a client of that service.

  PORT                    name of the virtio-serial port (default org.opengni.agent)
  -h, --help              this text
  -V, --version           prints the version

As process 1 it also reaps orphans. Exit status: 1 there is no such port, 2 the command line is wrong.
)";

/* Exit status when something was to be printed: 1 if it is lost, as on a full disk. */
int told()
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	fputs("gni-agent: the output cannot be written\n", stderr);
	return 1;
}

} // namespace

int main(int argc, char **argv)
{
	const std::string name = argv[0];
	if (name.substr(name.rfind('/') + 1) == "gni-kvs")
		return kvs_main(argc, argv);
	if (argc > 1 && std::string_view(argv[1]) == "kvs")
		return kvs_main(argc - 1, argv + 1);

	const std::string_view word = argc > 1 ? argv[1] : "";
	if (word == "-h" || word == "--help") {
		fputs(help_text, stdout);
		return told();
	}
	if (word == "-V" || word == "--version") {
		puts("gni-agent (OpenGNI) " OPENGNI_VERSION);
		return told();
	}
	// Process 1 gets what is left of the kernel's command line, and the machine stops when it ends.
	if (getpid() != 1 && (argc > 2 || word.substr(0, 1) == "-")) {
		fprintf(stderr, "gni-agent: '%s' is not an argument; see --help\n", argv[argc > 2 ? 2 : 1]);
		return 2;
	}
	const char *port_name = argc > 1 ? argv[1] : "org.opengni.agent";
	const int port = open_port(port_name);
	if (port < 0) {
		fprintf(stderr, "gni-agent: virtio-serial port %s: %s\n", port_name, strerror(errno));
		return 1;
	}
	return Agent(port, "/run/opengni/kvs.sock").run();
}
