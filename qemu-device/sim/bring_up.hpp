// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * How a link of QsNetIII is brought into use, in three steps (Q41): both ends agree on speed and protocol; it is looked
 * whether the link leads to where it should; then switches send random packets over it at its full rate, and errors are
 * counted. Only what has passed all of them comes into the route tables. How long a step takes and how many errors are
 * too many is ours.
 */
#ifndef ARIES_SIM_BRING_UP_HPP
#define ARIES_SIM_BRING_UP_HPP

#include <cstdint>

namespace aries::sim
{

enum class LinkStep : uint8_t { Negotiate, Connect, Test, Up };

/** What a step has found. */
struct StepResult {
	bool far_end_right; ///< it is connected to the link's other end
	uint32_t errors;    ///< of the random packets
};

class BringUp
{
public:
	static constexpr uint32_t MOST_ERRORS = 1; ///< of a test

	BringUp(uint32_t link, uint32_t cycle, uint32_t step_cycles) noexcept
		: link_(link), until_(cycle + step_cycles), cycles_(step_cycles)
	{
	}

	uint32_t link() const noexcept { return link_; }
	LinkStep step() const noexcept { return step_; }

	/** The cycle before which the step ends. */
	uint32_t until() const noexcept { return until_; }

	/** It does. What has not passed begins anew. @return the link is up */
	bool end_step(const StepResult &found) noexcept
	{
		const bool passed = step_ == LinkStep::Negotiate ||
				    (step_ == LinkStep::Connect && found.far_end_right) ||
				    (step_ == LinkStep::Test && found.errors <= MOST_ERRORS);

		step_ = passed ? static_cast<LinkStep>(static_cast<uint8_t>(step_) + 1) : LinkStep::Negotiate;
		until_ += cycles_;
		return step_ == LinkStep::Up;
	}

private:
	uint32_t link_;
	LinkStep step_ = LinkStep::Negotiate;
	uint32_t until_;
	uint32_t cycles_;
};

} // namespace aries::sim

#endif
