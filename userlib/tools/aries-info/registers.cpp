// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "registers.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "aries_hw.h"
#include "aries_regs.h"
#include "aries_regs_table.h"

#include "common/failure.h"

namespace info
{

using tools::Failure;
using tools::format;

namespace
{

std::vector<Register> build_table()
{
	std::vector<Register> table = {
#define ROW(name, offset, width, access, count, stride, reset, mask, dump, text)                                       \
	{#name, offset, width, #access, count, stride, reset, (dump) != 0, text, {}},
		ARIES_REGISTERS(ROW)
#undef ROW
	};
	struct Named {
		const char *reg;
		Field field;
	};
	const Named fields[] = {
#define FIELD(reg, name, lsb, bits, text) {#reg, {#name, lsb, bits, text}},
		ARIES_REGISTER_FIELDS(FIELD)
#undef FIELD
	};
	for (Register &reg : table)
		for (const Named &named : fields)
			if (strcmp(named.reg, reg.name) == 0)
				reg.fields.push_back(named.field);
	return table;
}

/* A word is the name of a register, of a block (what stands before the first underscore) or of an element. */
bool matches(const std::string &word, const Register &reg, uint32_t index)
{
	std::string name = reg.name;
	if (word == name || word == name.substr(0, name.find('_')))
		return true;
	return reg.count > 1 && word == format("%s[%u]", reg.name, index);
}

bool names_element(const std::vector<std::string> &names, const Register &reg, uint32_t index)
{
	std::string element = format("%s[%u]", reg.name, index);
	return reg.count > 1 && std::find(names.begin(), names.end(), element) != names.end();
}

} // namespace

const std::vector<Register> &register_table()
{
	static const std::vector<Register> table = build_table();
	return table;
}

bool selects_something(const std::string &word)
{
	for (const Register &reg : register_table()) {
		if (matches(word, reg, 0))
			return true;
		size_t bracket = word.find('[');
		if (bracket == std::string::npos || word.substr(0, bracket) != reg.name)
			continue;
		unsigned index;
		char end;
		if (sscanf(word.c_str() + bracket, "[%u%c", &index, &end) == 2 && end == ']' && index < reg.count &&
		    word.back() == ']')
			return true;
	}
	return false;
}

void list_registers()
{
	for (const Register &reg : register_table()) {
		std::string name = reg.name;
		if (reg.count > 1)
			name += format("[%u]", reg.count);
		printf("0x%05x %2u %-3s %-18s %s\n", reg.offset, reg.width, reg.access, name.c_str(), reg.text);
		for (const Field &field : reg.fields)
			printf("%32s%-14s %s\n", "",
			       format(".%s[%u:%u]", field.name, field.lsb + field.bits - 1, field.lsb).c_str(),
			       field.text);
	}
}

const char *Value::meaning() const
{
	static const char *const counters[] = {
#define COUNTER(NAME, name, text) #name,
		ARIES_COUNTERS(COUNTER)
#undef COUNTER
	};
	return reg->offset == ARIES_CNT_VALUE && index < std::size(counters) ? counters[index] : "";
}

std::string Value::name() const
{
	return reg->count > 1 ? format("%s[%u]", reg->name, index) : std::string(reg->name);
}

RegisterBar::RegisterBar(const std::string &path, size_t size) : size_(size)
{
	int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		throw Failure(format("%s: %s%s", path.c_str(), tools::errno_text(errno),
				     errno == EACCES || errno == EPERM ? " (registers can be read by root only)" : ""));
	map_ = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
	int error = errno;
	close(fd);
	if (map_ == MAP_FAILED)
		throw Failure(format("%s: cannot map: %s", path.c_str(), tools::errno_text(error)));
}

RegisterBar::~RegisterBar()
{
	munmap(map_, size_);
}

uint64_t RegisterBar::read(const Register &reg, uint32_t index) const
{
	size_t offset = reg.offset + static_cast<size_t>(index) * reg.stride;
	if (offset + reg.width / 8 > size_)
		throw Failure(format("%s lies outside of BAR 0", reg.name));
	const volatile void *at = static_cast<const uint8_t *>(map_) + offset;
	if (reg.width == 64)
		return *static_cast<const volatile uint64_t *>(at);
	return *static_cast<const volatile uint32_t *>(at);
}

RegisterFile::RegisterFile(const std::string &path)
{
	/* Opened by hand: a stream does not tell why it failed. */
	int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
	int error = errno;
	if (fd >= 0)
		close(fd);
	std::ifstream file(path);
	if (fd < 0 || !file)
		throw Failure(format("%s: %s%s", path.c_str(), tools::errno_text(error),
				     error == ENOENT ? " (debugfs not mounted?)" : " (root only)"));
	std::string name;
	for (uint64_t value; file >> name >> std::hex >> value;)
		values_[name] = value;
}

uint64_t RegisterFile::read(const Register &reg, uint32_t index) const
{
	auto found = values_.find(reg.count > 1 ? format("%s[%u]", reg.name, index) : reg.name);
	return found == values_.end() ? 0 : found->second;
}

std::vector<Value> read_registers(const RegisterSource &source, const Options &options)
{
	const Register &magic = register_table().front();
	uint64_t got = source.read(magic, 0);
	if (got != ARIES_ID_MAGIC_VALUE)
		throw Failure(got == 0xffffffffu ? "registers read as all ones: the NIC is gone or in reset"
						 : format("%s reads 0x%08llx: not an Aries of this interface",
							  magic.name, static_cast<unsigned long long>(got)));
	std::vector<Value> values;
	for (const Register &reg : register_table()) {
		if (!reg.dump)
			continue;
		for (uint32_t index = 0; index < reg.count; index++) {
			auto wanted = [&](const std::string &word) { return matches(word, reg, index); };
			if (!options.names.empty() && std::none_of(options.names.begin(), options.names.end(), wanted))
				continue;
			uint64_t value = source.read(reg, index);
			bool plain = reg.count == 1 || value != reg.reset || options.all_elements;
			if (plain || names_element(options.names, reg, index))
				values.push_back({&reg, index, value});
		}
	}
	return values;
}

} // namespace info
