// SPDX-License-Identifier: GPL-2.0-or-later
#include "gateway/keys.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>

#include "fabric/descriptor.hpp"
#include "fabric/segment.hpp"

namespace aries::gateway
{

namespace
{

/* Names of one value, each of which may change. NOLINTBEGIN(misc-redundant-expression) */
static_assert(KEY_BYTES == crypto_auth_KEYBYTES && KEY_BYTES == crypto_aead_chacha20poly1305_ietf_KEYBYTES);
static_assert(KEY_BYTES == crypto_kdf_KEYBYTES && KEY_BYTES >= crypto_generichash_KEYBYTES_MIN);
/* NOLINTEND(misc-redundant-expression) */
static_assert(HELLO_TAG == crypto_auth_BYTES && FRAME_TAG == crypto_aead_chacha20poly1305_ietf_ABYTES);

constexpr const char *FORM = "a key file has one line of 64 hexadecimal digits: aries-gateway keygen FILE makes one";
constexpr char CONTEXT[crypto_kdf_CONTEXTBYTES + 1] = "OpenGNI ";
enum : uint64_t { HELLO_KEY = 1, SESSION_KEY = 2 };

void start()
{
	if (sodium_init() < 0)
		throw Error("libsodium cannot be used here: no random numbers");
}

const unsigned char *raw(const std::byte *bytes)
{
	return reinterpret_cast<const unsigned char *>(bytes);
}

unsigned char *raw(std::byte *bytes)
{
	return reinterpret_cast<unsigned char *>(bytes);
}

std::string cause(const std::string &what)
{
	return what + ": " + strerror(errno); // NOLINT(concurrency-mt-unsafe)
}

/* Contents of a file that only its owner may access; throws Error if others may. */
std::string private_text(const std::string &file)
{
	const Descriptor fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
	struct stat info = {};
	char text[KEY_BYTES * 2 + 2];

	if (!fd || fstat(fd.get(), &info))
		throw Error(cause("cannot read the key file " + file));
	if (!S_ISREG(info.st_mode))
		throw Error("the key file " + file + " is no file");
	if (info.st_mode & 077)
		throw Error("others may read or change the key file " + file + ": chmod 600 " + file);
	const ssize_t bytes = read(fd.get(), text, sizeof(text));

	if (bytes < 0)
		throw Error(cause("cannot read the key file " + file));
	return {text, size_t(bytes)};
}

std::array<unsigned char, 12> nonce_of(uint64_t number)
{
	std::array<unsigned char, 12> nonce = {};

	static_assert(crypto_aead_chacha20poly1305_ietf_NPUBBYTES == sizeof(nonce));
	std::memcpy(nonce.data(), &number, sizeof(number));
	return nonce;
}

} // namespace

Nonce fresh_nonce()
{
	Nonce nonce;

	start();
	randombytes_buf(nonce.data(), nonce.size());
	return nonce;
}

uint64_t fresh_number()
{
	uint64_t number = 0;

	start();
	while (!number)
		randombytes_buf(&number, sizeof(number));
	return number;
}

FabricKey FabricKey::load(const std::string &file)
{
	start();
	std::string text = private_text(file);
	KeyBytes key;
	size_t bytes = 0;

	if (!text.empty() && text.back() == '\n')
		text.pop_back();
	if (text.size() != KEY_BYTES * 2 ||
	    sodium_hex2bin(raw(key.data()), key.size(), text.data(), text.size(), nullptr, &bytes, nullptr) ||
	    bytes != key.size())
		throw Error(file + " holds no key: " + FORM);
	return FabricKey(key);
}

void FabricKey::make(const std::string &file)
{
	start();
	KeyBytes key;
	char text[KEY_BYTES * 2 + 2];

	randombytes_buf(key.data(), key.size());
	sodium_bin2hex(text, sizeof(text) - 1, raw(key.data()), key.size());
	text[KEY_BYTES * 2] = '\n';

	const Descriptor fd(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));

	if (!fd)
		throw Error(cause("cannot make the key file " + file));
	if (write(fd.get(), text, KEY_BYTES * 2 + 1) != KEY_BYTES * 2 + 1 || fsync(fd.get())) {
		const std::string why = cause("cannot write the key file " + file);

		unlink(file.c_str());
		throw Error(why);
	}
}

FabricKey::FabricKey(const KeyBytes &key)
{
	start();
	crypto_kdf_derive_from_key(raw(hello_.data()), hello_.size(), HELLO_KEY, CONTEXT, raw(key.data()));
	crypto_kdf_derive_from_key(raw(session_.data()), session_.size(), SESSION_KEY, CONTEXT, raw(key.data()));
}

void FabricKey::sign(std::vector<std::byte> &frame) const
{
	const size_t bytes = frame.size();

	frame.resize(bytes + HELLO_TAG);
	crypto_auth(raw(frame.data() + bytes), raw(frame.data()), bytes, raw(hello_.data()));
}

bool FabricKey::holds(const Frame &frame) const noexcept
{
	return frame.tag.size() == HELLO_TAG && crypto_auth_verify(raw(frame.tag.data()), raw(frame.sealed.data()),
								   frame.sealed.size(), raw(hello_.data())) == 0;
}

SessionKeys::SessionKeys(const KeyBytes &session_key, const std::string &self, const Nonce &nonce,
			 const std::string &peer, const Nonce &peer_nonce)
{
	const bool first = self < peer;
	crypto_generichash_state state;
	std::array<std::byte, crypto_generichash_BYTES_MAX> keys;
	std::array<std::byte, crypto_generichash_BYTES> id;
	const auto add = [&state](const std::string &name, const Nonce &of) {
		const uint64_t length = name.size();

		crypto_generichash_update(&state, reinterpret_cast<const unsigned char *>(&length), sizeof(length));
		crypto_generichash_update(&state, reinterpret_cast<const unsigned char *>(name.data()), name.size());
		crypto_generichash_update(&state, raw(of.data()), of.size());
	};

	crypto_generichash_init(&state, raw(session_key.data()), session_key.size(), keys.size());
	add(first ? self : peer, first ? nonce : peer_nonce);
	add(first ? peer : self, first ? peer_nonce : nonce);
	crypto_generichash_final(&state, raw(keys.data()), keys.size());
	std::memcpy(first ? &out_ : &in_, keys.data(), KEY_BYTES);
	std::memcpy(first ? &in_ : &out_, keys.data() + KEY_BYTES, KEY_BYTES);
	/* The id is derived from the keys, but contains none of their bytes, because it is sent in clear. */
	crypto_generichash(raw(id.data()), id.size(), raw(keys.data()), keys.size(), raw(session_key.data()),
			   session_key.size());
	std::memcpy(&id_, id.data(), sizeof(id_));
	id_ += id_ == 0;
	sodium_memzero(keys.data(), keys.size());
}

void SessionKeys::seal(std::span<std::byte> frame) const noexcept
{
	const FrameHeader header = peek(frame);
	const size_t bytes = FRAME_HEADER + header.body;
	unsigned long long tag = 0;
	unsigned char nothing = 0; // is encrypted

	crypto_aead_chacha20poly1305_ietf_encrypt_detached(&nothing, raw(frame.data() + bytes), &tag, &nothing, 0,
							   raw(frame.data()), bytes, nullptr,
							   nonce_of(header.number).data(), raw(out_.data()));
}

bool SessionKeys::holds(const Frame &frame) const noexcept
{
	unsigned char nothing = 0; // is decrypted

	return frame.tag.size() == FRAME_TAG &&
	       crypto_aead_chacha20poly1305_ietf_decrypt_detached(
		       &nothing, nullptr, &nothing, 0, raw(frame.tag.data()), raw(frame.sealed.data()),
		       frame.sealed.size(), nonce_of(frame.header.number).data(), raw(in_.data())) == 0;
}

} // namespace aries::gateway
