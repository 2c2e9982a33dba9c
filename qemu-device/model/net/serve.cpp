// SPDX-License-Identifier: GPL-2.0-or-later
#include "net/serve.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <system_error>
#include <thread>

#include <arpa/inet.h>
#include <sys/random.h>

#include <httplib.h>

#include "net/metrics.hpp"
#include "net/source.hpp"

namespace aries::net
{

namespace
{

using httplib::Request, httplib::Response;

constexpr size_t THREADS = 8;         // requests that are answered at a time
constexpr size_t LEAST_TOKEN = 16;    // characters
constexpr size_t MOST_REQUEST = 4096; // bytes of a body, of which none has any use
constexpr time_t PATIENCE_S = 5;      // with a client that has begun a request, or reads an answer

uint32_t needed_number(const Request &request, const char *name)
{
	if (!request.has_param(name))
		throw Error(std::string(name) + " is missing");
	return number_of(request.get_param_value(name), name);
}

std::optional<uint32_t> given_number(const Request &request, const char *name)
{
	return request.has_param(name) ? std::optional(needed_number(request, name)) : std::nullopt;
}

uint16_t mode_of(const Request &request)
{
	if (!request.has_param("mode"))
		return 0;
	const auto mode = delivery_modes().find(request.get_param_value("mode"));

	if (mode == delivery_modes().end())
		throw Error("mode is adaptive, minimal, nonminimal or ordered");
	return mode->second;
}

struct Report {
	const char *path;
	Json (*tell)(FabricView &view, const Request &request);
};

/* The reports of aries-net by the same names; words and options are parameters. */
const Report REPORTS[] = {
	{"/api/show", [](FabricView &view, const Request &) { return view.show(); }},
	{"/api/links", [](FabricView &view, const Request &request) { return view.links(request.has_param("all")); }},
	{"/api/tiles",
	 [](FabricView &view, const Request &request) { return view.tiles(needed_number(request, "router")); }},
	{"/api/counters",
	 [](FabricView &view, const Request &request) {
		 return view.counters(needed_number(request, "router"), given_number(request, "tile"));
	 }},
	{"/api/route",
	 [](FabricView &view, const Request &request) {
		 return view.route(needed_number(request, "from"), needed_number(request, "to"), mode_of(request));
	 }},
};

void answer(Response &response, int status, const Json &json)
{
	response.status = status;
	response.set_content(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n", "application/json");
}

void refuse(Response &response, int status, const std::string &why)
{
	answer(response, status, {{"error", why}});
}

/* As long for a wrong token as for the right one, wherever they differ. */
bool same(const std::string &a, const std::string &b)
{
	unsigned char differs = a.size() != b.size();

	for (size_t i = 0; i < a.size(); i++)
		differs |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(i < b.size() ? b[i] : 0);
	return !differs;
}

bool has_token(const Request &request, const std::string &token)
{
	static const std::string BEARER = "Bearer ";
	const std::string header = request.get_header_value("Authorization");

	return token.empty() || (header.starts_with(BEARER) && same(header.substr(BEARER.size()), token)) ||
	       same(request.get_param_value("token"), token);
}

/* The name by which a client knows this server, without its port. */
std::string host_of(const std::string &header)
{
	if (header.starts_with("["))
		return header.substr(1, header.find(']') - 1);
	return header.substr(0, header.find(':'));
}

class Server
{
public:
	Server(const std::string &fabric, const Listen &listen, std::string token)
		: source_(fabric), token_(std::move(token)), local_(is_local(listen.host))
	{
		server_.new_task_queue = [] { return new httplib::ThreadPool(THREADS); };
		/* A connection has a thread as long as it is kept. */
		server_.set_keep_alive_max_count(1);
		server_.set_read_timeout(PATIENCE_S);
		server_.set_write_timeout(PATIENCE_S);
		server_.set_payload_max_length(MOST_REQUEST);
		/* Not SO_REUSEPORT, with which two servers would share a port, and each client would ask one of them.
		 */
		server_.set_socket_options([](auto socket) {
			const int yes = 1;

			setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
		});
		routes();
		bind(listen);
	}

	void run()
	{
		sigset_t signals;

		sigemptyset(&signals);
		sigaddset(&signals, SIGINT);
		sigaddset(&signals, SIGTERM);
		/* Threads that begin from here on leave them to this one. */
		pthread_sigmask(SIG_BLOCK, &signals, nullptr);

		std::atomic<bool> ended = false;
		std::thread thread([this, &ended] {
			server_.listen_after_bind();
			ended = true;
		});
		int signal = 0;

		/* What does not run yet cannot be stopped. */
		while (!server_.is_running() && !ended)
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		std::cout << url_ << std::endl;
		sigwait(&signals, &signal);
		server_.stop();
		thread.join();
	}

private:
	void bind(const Listen &listen)
	{
		int port = listen.port;

		errno = 0;
		if (port ? !server_.bind_to_port(listen.host, port)
			 : (port = server_.bind_to_any_port(listen.host)) < 0)
			throw Error("cannot listen at " + listen.host + " port " + std::to_string(listen.port) + ": " +
				    (errno ? std::generic_category().message(errno) : "no such address"));
		const bool six = listen.host.find(':') != std::string::npos;

		url_ = "http://" + (six ? "[" + listen.host + "]" : listen.host) + ":" + std::to_string(port) +
		       "/metrics" + (token_.empty() ? "" : "?token=" + token_);
	}

	void routes()
	{
		server_.set_pre_routing_handler([this](const Request &request, Response &response) {
			return admit(request, response) ? httplib::Server::HandlerResponse::Unhandled
							: httplib::Server::HandlerResponse::Handled;
		});
		server_.Get("/metrics", [this](const Request &, Response &response) {
			guarded(response,
				[&] { response.set_content(metrics_of(source_.with(sample_of)), METRICS_TYPE); });
		});
		for (const Report &report : REPORTS) {
			server_.Get(report.path, [this, &report](const Request &request, Response &response) {
				guarded(response, [&] {
					answer(response, 200, source_.with([&](FabricView &view) {
						return report.tell(view, request);
					}));
				});
			});
		}
		server_.set_error_handler([](const Request &, Response &response) {
			if (response.body.empty())
				refuse(response, response.status,
				       response.status == 404 ? paths() : "this is no request that is answered here");
		});
	}

	/* A page of somebody else in a browser of this host may send requests here, but it cannot know the token; and
	 * not read answers under a name of its own. */
	bool admit(const Request &request, Response &response)
	{
		if (local_ && !is_local(host_of(request.get_header_value("Host")))) {
			refuse(response, 403, "this is only for this host: use localhost or its address");
			return false;
		}
		if (request.method != "GET" && request.method != "HEAD") {
			refuse(response, 405, "nothing can be changed here");
			return false;
		}
		if (!has_token(request, token_)) {
			response.set_header("WWW-Authenticate", "Bearer");
			refuse(response, 401,
			       "give the token that aries-net has printed: ?token= or Authorization: Bearer");
			return false;
		}
		response.set_header("Cache-Control", "no-store");
		response.set_header("X-Content-Type-Options", "nosniff");
		return true;
	}

	static std::string paths()
	{
		std::string text = "there are /metrics";

		for (const Report &report : REPORTS)
			text += std::string(", ") + report.path;
		return text;
	}

	template <typename Tell> void guarded(Response &response, Tell &&tell)
	{
		try {
			tell();
		} catch (const std::exception &error) {
			/* Of a fabric that is there, what was asked makes no sense; one that is not there may begin
			 * anew. */
			refuse(response, source_.there() ? 400 : 503, error.what());
		}
	}

	Source source_;
	const std::string token_;
	const bool local_;
	std::string url_;
	httplib::Server server_;
};

} // namespace

Listen listen_of(const std::string &text)
{
	const size_t colon = text.rfind(':');
	std::string host = text.substr(0, colon == std::string::npos ? text.size() : colon);
	const std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
	uint16_t number = 0;
	const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);

	if (host.starts_with("[") && host.ends_with("]"))
		host = host.substr(1, host.size() - 2);
	else if (host.find(':') != std::string::npos)
		host.clear();
	if (host.empty() || port.empty() || error != std::errc() || end != port.data() + port.size())
		throw Error("'" + text +
			    "' is no address to listen at: give ADDRESS:PORT, as 127.0.0.1:9418 or [::1]:0");
	return {host, number};
}

bool is_local(const std::string &host)
{
	in_addr four{};
	in6_addr six{};

	if (inet_pton(AF_INET, host.c_str(), &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	if (inet_pton(AF_INET6, host.c_str(), &six) == 1)
		return IN6_IS_ADDR_LOOPBACK(&six);
	return host == "localhost";
}

std::string token_of_file(const std::string &path)
{
	const auto good = [](unsigned char c) { return std::isalnum(c) || std::strchr("-._~", c); };
	std::ifstream file(path);
	std::string token;

	if (!file)
		throw Error(path + " cannot be read: " + std::generic_category().message(errno));
	std::getline(file, token);
	if (token.size() < LEAST_TOKEN || !std::all_of(token.begin(), token.end(), good))
		throw Error(path + " has no token: at least " + std::to_string(LEAST_TOKEN) +
			    " letters, digits or -._~ in its first line");
	return token;
}

std::string random_token()
{
	static constexpr char DIGITS[] = "0123456789abcdef";
	std::array<uint8_t, 16> bytes{};
	std::string token;

	if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
		throw Error(std::string("no random bytes for a token: ") + std::generic_category().message(errno));
	for (const uint8_t byte : bytes) {
		token += DIGITS[byte >> 4];
		token += DIGITS[byte & 15];
	}
	return token;
}

void serve(const std::string &fabric, const Listen &listen, const std::string &token)
{
	Server(fabric, listen, token).run();
}

} // namespace aries::net
