/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* FMA operations on their way, where completions are held. */
#ifndef ARIES_NIC_FMA_HOLD_HPP
#define ARIES_NIC_FMA_HOLD_HPP

#include <memory>
#include <vector>

#include "nic/engines/fma.hpp"

namespace aries
{

struct HeldFma;

/**
 * Operations of a descriptor without an event of their own, up to the next one that has one: it comes behind them and
 * tells their first failure. Changes under the descriptor's lock.
 */
struct HoldGroup {
	uint32_t open = 0;                    /* that are on their way */
	uint8_t status = ARIES_ST_OK;         /* the first failure */
	uint8_t torn = ARIES_ST_OK;           /* why a part of the data that the next sync flag stands for is lost */
	std::shared_ptr<HeldFma> parked = {}; /* has the event, and is ready */
};

/** One operation on its way; FMAD_STATUS.BUSY counts it. */
struct HeldFma {
	HeldFma(const FmaWork &from, std::shared_ptr<HoldGroup> of, Hold &in);
	~HeldFma();
	HeldFma(const HeldFma &) = delete;
	HeldFma &operator=(const HeldFma &) = delete;

	Hold &hold;
	FmaWork work;
	std::vector<uint8_t> payload = {}; /* of a put, or what a get brings back */
	Transaction transaction = {};
	AmoCommand command = {};
	Served served = {};
	CarriedResponse beyond = {};          /* what the target's host has said, if it is another one */
	uint32_t far_life = 0, near_life = 0; /* MddSlot::life of both memory domains when it left */
	uint8_t status = ARIES_ST_OK;
	bool lands = false;  /* data come back */
	bool told = false;   /* as TIMEOUT, see Fma::await(): what becomes of it now concerns nobody */
	bool closes = false; /* has an event */
	std::atomic<bool> done{false};
	std::shared_ptr<HoldGroup> group;
};

} // namespace aries

#endif
