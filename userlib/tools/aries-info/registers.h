// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * The register table as data, and reading of registers.
 */
#ifndef ARIES_INFO_REGISTERS_H
#define ARIES_INFO_REGISTERS_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "options.h"

namespace info
{

struct Field {
	const char *name;
	unsigned lsb;
	unsigned bits;
	const char *text;
};

struct Register {
	const char *name;
	uint32_t offset;
	unsigned width; /* bits */
	const char *access;
	uint32_t count;
	uint32_t stride;
	uint64_t reset;
	bool dump; /* may be read without side effect */
	const char *text;
	std::vector<Field> fields;
};

/** Rows of the register table, in the order of their offsets. */
const std::vector<Register> &register_table();

/** True when @p word names a register, a block or an element. */
bool selects_something(const std::string &word);

/** Prints the table. */
void list_registers();

/** One register, or one element of an array, that was read. */
struct Value {
	const Register *reg;
	uint32_t index;
	uint64_t value;

	std::string name() const;

	/** Name of the counter that an element of CNT_VALUE is, else empty. */
	const char *meaning() const;
};

/** Where values come from. */
class RegisterSource
{
public:
	virtual ~RegisterSource() = default;
	virtual uint64_t read(const Register &reg, uint32_t index) const = 0;
};

/** BAR 0, mapped for reading. Kernels with IO_STRICT_DEVMEM refuse it while a driver is bound. */
class RegisterBar : public RegisterSource
{
public:
	/** @p path resource0 file of the device. Throws Failure. */
	RegisterBar(const std::string &path, size_t size);
	RegisterBar(const RegisterBar &) = delete;
	RegisterBar &operator=(const RegisterBar &) = delete;
	~RegisterBar() override;

	uint64_t read(const Register &reg, uint32_t index) const override;

private:
	void *map_;
	size_t size_;
};

/** What the driver shows in debugfs: lines "NAME VALUE"; of arrays the elements that are not zero. */
class RegisterFile : public RegisterSource
{
public:
	/** Throws Failure. */
	explicit RegisterFile(const std::string &path);

	uint64_t read(const Register &reg, uint32_t index) const override;

private:
	std::map<std::string, uint64_t> values_;
};

/** Reads what the options select. Throws Failure when the NIC does not answer. */
std::vector<Value> read_registers(const RegisterSource &source, const Options &options);

} // namespace info

#endif // ARIES_INFO_REGISTERS_H
