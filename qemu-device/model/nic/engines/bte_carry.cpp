/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Block transfers with nodes of other hosts: a chunk goes in pieces, a few of which are under way at a time. The thread
 * of the channel waits for them, and no longer than until its transfer is flushed; no processor does, and no visit is
 * open meanwhile.
 */
#include "nic/engines/bte_carry.hpp"

namespace aries
{

namespace
{

constexpr uint32_t PIECE = 32768; /* bytes */
constexpr uint32_t PIECES = 4;    /* under way; those of all channels together leave room for FMA */
constexpr std::chrono::milliseconds LOOK{10};

static_assert(PIECE * PIECES * (ARIES_BTE_CHANNELS + 1) < CARRY_UNIT * CARRY_UNITS * 2 / 3);

} // namespace

/* Requests under way for one chunk. Answers may come when nobody waits any more. */
struct CarriedPieces {
	explicit CarriedPieces(const BteWork &of) noexcept : work(of) {}

	const BteWork work;
	bool lands = false; /* what comes back is written */
	std::mutex mutex = {};
	std::condition_variable back = {};
	uint32_t open = 0;
	uint8_t status = ARIES_ST_OK; /* the first failure */
	bool abandoned = false;
	CarriedResponse response = {}; /* the last one */
};

CarriedRequest BteBeyond::carried(const BteWork &work, CarriedKind kind) const noexcept
{
	CarriedRequest request = carried_request(core_, work.request(), 0);

	request.kind = uint8_t(kind);
	request.part = 0;
	request.index = work.index;
	request.op = work.desc.op;
	request.depart_ns = core_.at(now_ns());
	request.dlvr_mode = work.desc.dlvr_mode;
	if (work.claim.state)
		request.claim = {work.claim.state,
				 work.claim.offset,
				 work.claim.index,
				 work.claim.event,
				 work.claim.ecc,
				 work.claim.mdh,
				 0};
	return request;
}

/* On the thread of Carry. The engine is there as long as nobody has abandoned the pieces. */
void BteBeyond::piece_back(CarriedPieces &pieces, const CarriedRequest &request, const CarriedResponse &response,
			   std::span<const uint8_t> data) noexcept
{
	const std::lock_guard guard(pieces.mutex);
	uint8_t status = response.status;

	pieces.open--;
	pieces.response = response;
	if (pieces.abandoned)
		return;
	if (status == ARIES_ST_OK && pieces.lands) {
		Visit local(core_, core_.node);
		BteRuns near;

		status = data.size() == request.part ? pieces.work.runs(request.at, request.part, local, near)
						     : uint8_t(ARIES_ST_TIMEOUT);
		if (status == ARIES_ST_OK)
			scatter(near, data.data());
	}
	if (pieces.status == ARIES_ST_OK)
		pieces.status = status;
	pieces.back.notify_all();
}

/* Return: OK when no more than @left are open and none has failed */
uint8_t BteBeyond::wait_for_pieces(CarriedPieces &pieces, uint32_t left) noexcept
{
	std::unique_lock guard(pieces.mutex);

	while (pieces.open > left) {
		pieces.back.wait_for(guard, LOOK);
		if (pieces.work.cancelled() || core_.own().online.load(std::memory_order_relaxed) != ONLINE_ALL) {
			pieces.abandoned = true;
			return ARIES_ST_FLUSHED;
		}
	}
	return pieces.status;
}

/* A request without payload, or with that of a piece of a put. */
uint8_t BteBeyond::issue_piece(const std::shared_ptr<CarriedPieces> &pieces, const CarriedRequest &request) noexcept
{
	const bool put = CarriedKind(request.kind) == CarriedKind::BlockPut;
	Visit local(core_, core_.node);
	BteRuns near;
	uint8_t status = ARIES_ST_OK;

	if (put)
		status = pieces->work.runs(request.at, request.part, local, near);
	if (status != ARIES_ST_OK)
		return status;
	{
		const std::lock_guard guard(pieces->mutex);

		pieces->open++;
	}
	status = carry_.send(
		request, put ? request.part : 0, [&near](uint8_t *to) { gather(near, to); },
		CarriedKind(request.kind) == CarriedKind::BlockGet ? request.part : 0,
		[this, pieces, request](const CarriedResponse &response, std::span<const uint8_t> data) {
			piece_back(*pieces, request, response, data);
		});
	if (status == ARIES_ST_OK)
		return status;
	const std::lock_guard guard(pieces->mutex);

	pieces->open--;
	return status;
}

uint8_t BteBeyond::send_piece(const std::shared_ptr<CarriedPieces> &pieces, uint64_t at, uint32_t bytes) noexcept
{
	CarriedRequest request =
		carried(pieces->work, pieces->work.put() ? CarriedKind::BlockPut : CarriedKind::BlockGet);
	uint8_t status = wait_for_pieces(*pieces, PIECES - 1);

	request.at = uint32_t(at);
	request.hash = uint32_t((pieces->work.desc.offset + at) >> 6);
	request.part = bytes;
	while (status == ARIES_ST_OK) {
		status = issue_piece(pieces, request);
		if (status != ARIES_ST_QUEUE_FULL)
			return status;
		carry_.wait_for_room(LOOK);
		status = pieces->work.cancelled() ? ARIES_ST_FLUSHED : ARIES_ST_OK;
	}
	return status;
}

uint8_t BteBeyond::move(const BteWork &work, uint64_t at, uint64_t bytes, bool answered) noexcept
try {
	const auto pieces = std::make_shared<CarriedPieces>(work);
	uint8_t status = ARIES_ST_OK;

	pieces->lands = !work.put() && answered;
	for (uint64_t done = 0; status == ARIES_ST_OK && done < bytes; done += PIECE)
		status = send_piece(pieces, at + done, uint32_t(std::min<uint64_t>(PIECE, bytes - done)));
	const uint8_t last = wait_for_pieces(*pieces, 0);

	return status == ARIES_ST_OK ? last : status;
} catch (const std::bad_alloc &) {
	return ARIES_ST_QUEUE_FULL;
}

uint8_t BteBeyond::ask(const BteWork &work, CarriedKind kind, CarriedResponse &response) noexcept
try {
	const auto pieces = std::make_shared<CarriedPieces>(work);
	uint8_t status;

	while ((status = issue_piece(pieces, carried(work, kind))) == ARIES_ST_QUEUE_FULL && !work.cancelled())
		carry_.wait_for_room(LOOK);
	if (status == ARIES_ST_OK)
		status = wait_for_pieces(*pieces, 0);
	const std::lock_guard guard(pieces->mutex);

	response = pieces->response;
	return status;
} catch (const std::bad_alloc &) {
	return ARIES_ST_QUEUE_FULL;
}

/* A receive that nobody waits for any more is given back by the gateway. */
uint8_t BteBeyond::match(BteWork &work) noexcept
{
	CarriedResponse response = {};
	const uint8_t status = ask(work, CarriedKind::Match, response);

	if (status == ARIES_ST_OK)
		work.claim = {response.claim.index,  response.claim.state, response.claim.mdh,
			      response.claim.offset, response.claim.event, response.claim.ecc};
	return status;
}

/* If there is no room the gateway gives it back when this NIC is reset. */
void BteBeyond::give_back(const BteWork &work) noexcept
{
	constexpr unsigned int TRIES = 10;
	const auto nothing = [](const CarriedResponse &, std::span<const uint8_t>) {};
	uint8_t status = ARIES_ST_QUEUE_FULL;

	for (unsigned int i = 0; status == ARIES_ST_QUEUE_FULL && i < TRIES; i++) {
		status = carry_.send(carried(work, CarriedKind::Return), 0, nullptr, 0, nothing);
		if (status == ARIES_ST_QUEUE_FULL)
			carry_.wait_for_room(LOOK);
	}
}

} // namespace aries
