// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Questions to the driver that need no domain, and that GNI has no call for.
 */
#ifndef TOOLS_DEVICE_FILE_H
#define TOOLS_DEVICE_FILE_H

#include <cstdint>
#include <optional>
#include <string>

#include "uapi/kgni_abi.h"

namespace tools
{

/** An open /dev/kgniN. */
class DeviceFile
{
public:
	/** Throws Failure that names the device and the cause. */
	explicit DeviceFile(uint32_t device);
	DeviceFile(const DeviceFile &) = delete;
	DeviceFile &operator=(const DeviceFile &) = delete;
	~DeviceFile();

	/** What driver and NIC are (KGNI_IOC_QUERY). Throws Failure. */
	kgni_query query() const;

	/**
	 * Use of a resource (KGNI_IOC_RES).
	 * @param kind gni_dev_res_t, or gni_job_res_t with a @p ptag; or KGNI_RES_*
	 * @param ptag 0 asks for the device
	 * @return nothing when there is no such tag, or the NIC has no such resource. Throws Failure.
	 */
	std::optional<kgni_res> resource(uint32_t kind, uint8_t ptag = 0) const;

	/** Tag of the domain that a cookie names; nothing when there is none. Throws Failure. */
	std::optional<uint8_t> tag(uint32_t cookie) const;

private:
	int fd_;
	std::string path_;
};

} // namespace tools

#endif // TOOLS_DEVICE_FILE_H
