// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What gateways send each other. Any bytes: parsing ends with an answer, and what it accepts lies within them. Any
 * hello: what is made of it is read as the same.
 */
#include "fuzz/input.hpp"
#include "gateway/hello.hpp"

using namespace aries::gateway;
using aries_fuzz::Input;

namespace
{

bool within(Bytes part, Bytes whole)
{
	return part.empty() ||
	       (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void any_bytes(Bytes bytes)
{
	for (const size_t tag : {FRAME_TAG, HELLO_TAG}) {
		const auto frame = parse_frame(bytes, tag);

		if (!frame)
			continue;
		FUZZ_CHECK(within(frame->body, bytes) && within(frame->tag, bytes) && frame->tag.size() == tag);
		for_each_message(frame->body, [&](Bytes message) { FUZZ_CHECK(within(message, frame->body)); });
	}
	for_each_message(bytes,
			 [&](Bytes message) { FUZZ_CHECK(within(message, bytes) && message.size() <= MESSAGE_MAX); });
	parse_names(bytes);
	parse_hello(bytes);
	parse_refuse(bytes);
}

/* With a header of ours, so that the rest is looked at. */
void any_frame(Input &input)
{
	std::vector<std::byte> bytes(FRAME_HEADER + input.below(512));
	FrameHeader header;

	header.type = FrameType(input.below(9));
	header.flags = uint16_t(input.below(3));
	header.body = uint32_t(bytes.size() - FRAME_HEADER - (input.byte() & 1 ? FRAME_TAG : HELLO_TAG));
	for (std::byte &byte : bytes)
		byte = std::byte(input.byte());
	std::memcpy(bytes.data(), &header, sizeof(header));
	any_bytes(bytes);
}

void any_hello(Input &input)
{
	static const FabricKey key(KeyBytes{});
	Hello hello;
	Identity &from = hello.from;

	hello.to.assign(input.below(HOST_NAME_MOST + 1), char('a' + input.below(26)));
	from.host.name.assign(input.below(HOST_NAME_MOST + 1), 'n');
	from.shape.assign(input.below(SHAPE_MOST + 1), 's');
	from.application.resize(input.below(APPLICATION_MOST + 1));
	from.boot = input.word();
	hello.session = input.word();
	const std::vector<std::byte> bytes = frame_of(hello, key);
	const auto frame = parse_frame(bytes, HELLO_TAG);

	FUZZ_CHECK(frame && key.holds(*frame));
	const auto again = parse_hello(frame->body);

	FUZZ_CHECK(again && again->to == hello.to && again->from.host.name == from.host.name &&
		   again->from.shape == from.shape && again->from.application == from.application &&
		   again->from.boot == from.boot && again->session == hello.session);
	std::vector<std::byte> damaged = bytes;

	damaged[input.below(damaged.size())] ^= std::byte(1 << input.below(8));
	const auto other = parse_frame(damaged, HELLO_TAG);

	FUZZ_CHECK(!other || !key.holds(*other));
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input input(data, size);

	any_bytes(std::as_bytes(std::span(data, size)));
	while (input.more()) {
		if (input.byte() & 1)
			any_frame(input);
		else
			any_hello(input);
	}
	return 0;
}
