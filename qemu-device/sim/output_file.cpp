// SPDX-License-Identifier: GPL-2.0-or-later
#include "output_file.hpp"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>

#include "simulation.hpp"

namespace aries::sim
{

namespace
{

namespace fs = std::filesystem;

/* Where the new file is until it is whole: in the same folder, so that it can be renamed. */
struct Place {
	explicit Place(const std::string &path) : file(path)
	{
		std::error_code error;
		const fs::path real = fs::canonical(path, error); // behind links, which are to stay

		if (!error)
			file = real;
		special = !error && !fs::is_regular_file(file, error);
		fresh = file;
		fresh += "." + std::to_string(getpid()) + ".new";
	}

	fs::path file, fresh;
	bool special = false;
};

[[noreturn]] void refuse(const std::string &path)
{
	throw RunError(path + " cannot be written");
}

} // namespace

void check_writable(const std::string &path)
{
	const Place place(path);
	std::error_code error;

	if (fs::exists(place.file, error) && access(place.file.c_str(), W_OK))
		refuse(path);
	if (place.special && fs::is_directory(place.file, error))
		refuse(path);
	if (place.special)
		return;
	if (!std::ofstream(place.fresh))
		refuse(path);
	fs::remove(place.fresh, error);
}

void replace_file(const std::string &path, const std::function<void(std::ostream &)> &write)
{
	const Place place(path);
	std::error_code error;
	std::ofstream file(place.special ? place.file : place.fresh);

	try {
		if (file)
			write(file);
	} catch (...) {
		if (!place.special)
			fs::remove(place.fresh, error);
		throw;
	}

	/* A full disk shows when the last of it is written. */
	const bool whole = file && file.flush();

	file.close();
	if (whole && place.special)
		return;
	if (whole && fs::exists(place.file, error))
		fs::permissions(place.fresh, fs::status(place.file).permissions(), error);
	if (whole)
		fs::rename(place.fresh, place.file, error);
	if (whole && !error)
		return;
	if (!place.special)
		fs::remove(place.fresh, error);
	refuse(path);
}

} // namespace aries::sim
