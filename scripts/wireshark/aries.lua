-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Wireshark dissector for the packet traces of the Aries NIC (Documentation/packet-trace.md).
-- Use: wireshark -X lua_script:scripts/wireshark/aries.lua TRACE.pcapng

local aries = Proto("aries", "Aries packet")

local HEADER, CRC_BYTES, PACKET_BYTES, FLIT_BYTES = 32, 2, 64, 6
local REQUEST_FLITS, RESPONSE_FLITS = 3, 1
local GET, AMO, FETCH_AMO, CQ_WRITE = 1, 2, 3, 4

local KINDS = {[0] = "Put", "Get", "Atomic", "Fetching atomic", "CQ write", "BTE send"}
local CLASSES = {[0] = "Request", "Response"}
local DIRECTIONS = {[0] = "Sent", "Received"}
local ENGINES = {"FMA", "BTE"}
local ROUTINGS = {[0] = "In order", "Minimal hash", "Non-minimal hash", "Adaptive 0", "Adaptive 1", "Adaptive 2",
	"Adaptive 3"}

-- enum aries_status
local STATUS = {
	[0x00] = "OK", [0x01] = "PTAG", [0x02] = "MDD", [0x03] = "BOUNDS", [0x04] = "ACCESS", [0x05] = "TRANSLATION",
	[0x06] = "NO_NODE", [0x07] = "TIMEOUT", [0x08] = "NO_CQ", [0x09] = "ALIGN", [0x0a] = "BAD_OP", [0x0b] = "LENGTH",
	[0x0c] = "RESERVED", [0x0d] = "DISABLED", [0x0e] = "NTT", [0x0f] = "CQ_OWNER", [0x10] = "QUEUE_FULL",
	[0x11] = "FLUSHED", [0x12] = "CRC", [0x13] = "ECC", [0x16] = "NO_RECEIVE", [0x17] = "RECEIVE_LENGTH",
	[0x18] = "CE_BUSY", [0x19] = "CE_CHILD", [0x1a] = "CE_MISMATCH",
	[0x21] = "LOCAL_PTAG", [0x22] = "LOCAL_MDD", [0x23] = "LOCAL_BOUNDS", [0x24] = "LOCAL_ACCESS",
	[0x25] = "LOCAL_TRANSLATION", [0x29] = "LOCAL_ALIGN", [0x33] = "LOCAL_ECC",
}

-- Names of gni_fma_cmd_type_t, made as its numbers are.
local COMMANDS = {}
for code, name in pairs({[0x8] = "ADD", [0x9] = "AND", [0xa] = "OR", [0xb] = "XOR", [0xc] = "AX"}) do
	for cached = 0, 1 do
		local suffix = cached == 1 and "_C" or ""
		COMMANDS[code + 0x10 * cached] = "GNI_FMA_ATOMIC_F" .. name .. suffix
		COMMANDS[code + 0x10 * cached + 0x100] = "GNI_FMA_ATOMIC_" .. name .. suffix
	end
end
COMMANDS[0x00d] = "GNI_FMA_ATOMIC_CSWAP"
COMMANDS[0x01d] = "GNI_FMA_ATOMIC_CSWAP_C"
for code, name in pairs({[0x00] = "AND", [0x02] = "OR", [0x04] = "XOR", [0x06] = "SWAP", [0x08] = "AX", [0x0a] = "CSWAP",
		[0x10] = "IMIN", [0x12] = "IMAX", [0x14] = "IADD", [0x18] = "FPMIN", [0x1a] = "FPMAX", [0x1c] = "FPADD"}) do
	for cached = 0, 1 do
		local wide, narrow = cached == 1 and "_C" or "", cached == 1 and "_SC" or "_S"
		COMMANDS[code + 0x20 * cached + 0x041] = "GNI_FMA_ATOMIC2_F" .. name .. wide
		COMMANDS[code + 0x20 * cached + 0x240] = "GNI_FMA_ATOMIC2_F" .. name .. narrow
		COMMANDS[code + 0x20 * cached + 0x141] = "GNI_FMA_ATOMIC2_" .. name .. wide
		COMMANDS[code + 0x20 * cached + 0x340] = "GNI_FMA_ATOMIC2_" .. name .. narrow
	end
end

local f = {
	-- the trace's own header
	version = ProtoField.uint8("aries.trace.version", "Version"),
	header = ProtoField.uint8("aries.trace.header", "Header bytes"),
	direction = ProtoField.uint8("aries.trace.direction", "Direction", base.DEC, DIRECTIONS),
	engine = ProtoField.uint8("aries.trace.engine", "Engine", base.DEC, ENGINES),
	key = ProtoField.uint32("aries.key", "Key", base.HEX),
	node = ProtoField.uint32("aries.node", "Node that traces"),
	peer = ProtoField.uint32("aries.peer", "Peer"),
	latency = ProtoField.uint32("aries.latency", "Modelled latency (ns)"),
	index = ProtoField.uint32("aries.index", "Packet of the operation"),
	packets = ProtoField.uint32("aries.packets", "Packets of the operation"),
	hops = ProtoField.uint8("aries.hops", "Hops"),
	outcome = ProtoField.uint8("aries.outcome", "Outcome", base.HEX, STATUS),
	fmad = ProtoField.uint8("aries.fmad", "FMA descriptor"),
	-- the packet
	flits = ProtoField.uint8("aries.flits", "Flits"),
	class = ProtoField.uint8("aries.class", "Class", base.DEC, CLASSES),
	kind = ProtoField.uint8("aries.kind", "Kind", base.DEC, KINDS),
	vc = ProtoField.uint8("aries.vc", "Virtual channel"),
	target = ProtoField.uint32("aries.target", "Target node"),
	source = ProtoField.uint32("aries.source", "Source node"),
	mdh = ProtoField.uint16("aries.mdh", "Memory domain handle"),
	offset = ProtoField.uint64("aries.offset", "Offset", base.HEX),
	ssid = ProtoField.uint8("aries.ssid", "Sequence id"),
	packet_id = ProtoField.uint16("aries.packet_id", "Packet id"),
	routing = ProtoField.uint8("aries.routing", "Routing", base.DEC, ROUTINGS),
	key_tag = ProtoField.uint8("aries.key_tag", "Key tag", base.HEX),
	length = ProtoField.uint8("aries.length", "Bytes"),
	command = ProtoField.uint16("aries.command", "Atomic command", base.HEX, COMMANDS),
	operand = ProtoField.uint64("aries.operand", "Operand", base.HEX),
	result = ProtoField.uint64("aries.result", "Result", base.HEX),
	event = ProtoField.uint64("aries.event", "Event", base.HEX),
	error = ProtoField.bool("aries.error", "Error"),
	status = ProtoField.uint8("aries.status", "Status", base.HEX, STATUS),
	data = ProtoField.bytes("aries.data", "Data"),
	padding = ProtoField.bytes("aries.padding", "Padding"),
	crc = ProtoField.uint16("aries.crc", "CRC", base.HEX),
	crc_good = ProtoField.bool("aries.crc.good", "CRC is right"),
	response_in = ProtoField.framenum("aries.response_in", "Response in", base.NONE, frametype.RESPONSE),
	response_to = ProtoField.framenum("aries.response_to", "Response to", base.NONE, frametype.REQUEST),
	time = ProtoField.relative_time("aries.time", "Time since the request"),
}
aries.fields = f

local e = {
	crc = ProtoExpert.new("aries.crc.bad", "The CRC is wrong", expert.group.CHECKSUM, expert.severity.ERROR),
	refused = ProtoExpert.new("aries.refused", "The target refused the request", expert.group.RESPONSE_CODE,
		expert.severity.WARN),
	lost = ProtoExpert.new("aries.lost", "The packet was lost or damaged: no response", expert.group.SEQUENCE,
		expert.severity.WARN),
	malformed = ProtoExpert.new("aries.malformed", "Not a packet of this format", expert.group.MALFORMED,
		expert.severity.ERROR),
}
aries.experts = e

-- Requests without response yet, by node and packet id; pairs found, by frame.
local open, answers, requests = {}, {}, {}

function aries.init()
	open, answers, requests = {}, {}, {}
end

-- x^16 + x^12 + x^5 + 1, most significant bit first.
local crc_table = {}
for byte = 0, 255 do
	local crc = byte * 256
	for _ = 1, 8 do
		crc = crc >= 0x8000 and bit.bxor(crc * 2 % 0x10000, 0x1021) or crc * 2
	end
	crc_table[byte] = crc
end

local function crc16(tvb, from, count, crc)
	for i = from, from + count - 1 do
		crc = bit.bxor(crc % 256 * 256, crc_table[bit.bxor(math.floor(crc / 256), tvb(i, 1):uint())])
	end
	return crc
end

local function data_flits(bytes)
	return math.floor((bytes + CRC_BYTES + FLIT_BYTES - 1) / FLIT_BYTES)
end

-- A field of the packet, given by its first bit and its width; up to 32 bits.
local function bits(tree, packet, field, at, width)
	local first = math.floor(at / 8)
	local last = math.floor((at + width - 1) / 8)
	local value = packet:bitfield(at, width)
	tree:add(field, packet(first, last - first + 1), value)
	return value
end

-- 64 and 0 share the length 0: the flits tell.
local function carried(length, flits_behind)
	return length == 0 and flits_behind == data_flits(PACKET_BYTES) and PACKET_BYTES or length
end

local function dissect_trace_header(tvb, tree)
	local part = tree:add(aries, tvb(0, HEADER), "Trace")
	part:add(f.version, tvb(0, 1))
	part:add(f.header, tvb(1, 1))
	part:add(f.direction, tvb(2, 1))
	part:add(f.engine, tvb(3, 1))
	part:add(f.key, tvb(4, 4))
	part:add(f.node, tvb(8, 4))
	part:add(f.peer, tvb(12, 4))
	part:add(f.latency, tvb(16, 4))
	part:add(f.index, tvb(20, 4))
	part:add(f.packets, tvb(24, 4))
	part:add(f.hops, tvb(28, 1))
	part:add(f.outcome, tvb(29, 1))
	part:add(f.fmad, tvb(30, 1))
	return {
		node = tvb(8, 4):uint(), peer = tvb(12, 4):uint(), outcome = tvb(29, 1):uint(), kind = tvb(31, 1):uint(),
		index = tvb(20, 4):uint(), packets = tvb(24, 4):uint(),
	}
end

local function dissect_crc(tvb, packet, tree, crc)
	local at = packet:len() - CRC_BYTES
	local item = tree:add(f.crc, packet(at, CRC_BYTES))
	local good = crc16(tvb, HEADER, at, crc) == packet(at, CRC_BYTES):uint()
	tree:add(f.crc_good, packet(at, CRC_BYTES), good):set_generated()
	if not good then
		item:add_proto_expert_info(e.crc)
	end
end

local function dissect_payload(packet, tree, at, bytes, kind, response)
	local each = response and f.result or f.operand
	if bytes > 0 and (kind == AMO or kind == FETCH_AMO) and bytes % 8 == 0 then
		for word = at, at + bytes - 1, 8 do
			tree:add_le(each, packet(word, 8))
		end
	elseif bytes > 0 and kind == CQ_WRITE and not response then
		tree:add_le(f.event, packet(at, bytes))
	end
	if bytes > 0 then
		tree:add(f.data, packet(at, bytes))
	end
	local behind = packet:len() - CRC_BYTES - at - bytes
	if behind > 0 then
		tree:add(f.padding, packet(at + bytes, behind))
	end
end

local function dissect_request(packet, tree)
	local behind = packet:len() / FLIT_BYTES - REQUEST_FLITS
	local r = {kind = bits(tree, packet, f.kind, 1, 3)}
	if behind < 0 then
		return nil
	end
	bits(tree, packet, f.vc, 4, 2)
	r.target = bits(tree, packet, f.target, 6, 18)
	r.source = bits(tree, packet, f.source, 24, 18)
	r.mdh = bits(tree, packet, f.mdh, 42, 12)
	-- 40 bits from bit 54 on, as two halves
	local high, low = packet:bitfield(54, 8), packet:bitfield(62, 32)
	tree:add(f.offset, packet(6, 6), UInt64(low, high))
	r.offset = string.format("0x%02x%08x", high, low)
	bits(tree, packet, f.ssid, 94, 8)
	r.id = bits(tree, packet, f.packet_id, 102, 10)
	bits(tree, packet, f.routing, 112, 3)
	bits(tree, packet, f.key_tag, 115, 7)
	local length = packet:bitfield(122, 6)
	if r.kind == GET then
		r.bytes = length == 0 and PACKET_BYTES or length
		if behind ~= 0 then
			return nil
		end
	else
		r.bytes = carried(length, behind)
		if behind ~= data_flits(r.bytes) then
			return nil
		end
	end
	tree:add(f.length, packet(15, 1), r.bytes)
	if r.kind ~= GET then
		if r.kind == AMO or r.kind == FETCH_AMO then
			r.command = bits(tree, packet, f.command, 128, 16)
		end
		dissect_payload(packet, tree, 18, r.bytes, r.kind, false)
	end
	return r
end

local function dissect_response(packet, tree, kind)
	local behind = packet:len() / FLIT_BYTES - RESPONSE_FLITS
	local r = {bytes = 0, status = 0}
	tree:add(f.error, packet(0, 1), packet:bitfield(1, 1) == 1)
	bits(tree, packet, f.vc, 2, 2)
	r.target = bits(tree, packet, f.target, 4, 18)
	r.id = bits(tree, packet, f.packet_id, 22, 10)
	if behind > 0 then
		r.bytes = carried(packet:bitfield(32, 6), behind)
		if behind ~= data_flits(r.bytes) then
			return nil
		end
		tree:add(f.length, packet(4, 1), r.bytes)
		r.status = bits(tree, packet, f.status, 42, 6)
		dissect_payload(packet, tree, 6, r.bytes, kind, true)
	end
	return r
end

local function match_request(pinfo, tree, node, id)
	if not pinfo.visited then
		open[node .. "/" .. id] = {number = pinfo.number, time = pinfo.abs_ts}
	elseif answers[pinfo.number] then
		tree:add(f.response_in, answers[pinfo.number]):set_generated()
	end
end

local function match_response(pinfo, tree, node, id)
	local key = node .. "/" .. id
	local request = requests[pinfo.number] or (not pinfo.visited and open[key])
	if not request then
		return
	end
	if not pinfo.visited then
		open[key] = nil
		requests[pinfo.number], answers[request.number] = request, pinfo.number
	end
	tree:add(f.response_to, request.number):set_generated()
	local passed = pinfo.abs_ts - request.time
	local seconds = math.floor(passed)
	tree:add(f.time, NSTime.new(seconds, math.floor((passed - seconds) * 1e9 + 0.5))):set_generated()
end

local function describe(header, r, request)
	local name = KINDS[request and r.kind or header.kind] or "?"
	local text
	if request then
		text = string.format("%s %d bytes, MDH %d, offset %s", name, r.bytes, r.mdh, r.offset)
		if r.command then
			text = text .. ", " .. (COMMANDS[r.command] or string.format("command 0x%03x", r.command))
		end
	else
		text = string.format("%s response, %d bytes", name, r.bytes)
		if r.status ~= 0 then
			text = text .. ", " .. (STATUS[r.status] or string.format("status 0x%02x", r.status))
		end
	end
	text = text .. string.format(", id %d", r.id)
	if header.packets > 1 then
		text = text .. string.format(", %d of %d", header.index + 1, header.packets)
	end
	return text
end

function aries.dissector(tvb, pinfo, root)
	local tree = root:add(aries, tvb())
	pinfo.cols.protocol = "Aries"
	if tvb:len() < HEADER + FLIT_BYTES or tvb(0, 1):uint() ~= 1 or tvb(1, 1):uint() ~= HEADER
			or (tvb:len() - HEADER) % FLIT_BYTES ~= 0 then
		tree:add_proto_expert_info(e.malformed)
		return
	end
	local header = dissect_trace_header(tvb, tree)
	local packet = tvb(HEADER)
	local part = tree:add(aries, packet, "Packet")
	part:add(f.flits, packet, packet:len() / FLIT_BYTES):set_generated()
	local request = bits(part, packet, f.class, 0, 1) == 0
	local r
	if request then
		r = dissect_request(packet, part)
	else
		-- A response does not say what it answers; the trace does.
		part:add(f.kind, tvb(31, 1)):set_generated()
		r = dissect_response(packet, part, header.kind)
	end
	if not r then
		tree:add_proto_expert_info(e.malformed)
		return
	end
	-- The CRC of a request begins with the key.
	dissect_crc(tvb, packet, part, request and crc16(tvb, 4, 4, 0xffff) or 0xffff)
	if request then
		pinfo.cols.src = "node " .. r.source
		pinfo.cols.dst = "node " .. r.target
		match_request(pinfo, part, header.node, r.id)
		if header.outcome == 0x07 or header.outcome == 0x12 then
			part:add_proto_expert_info(e.lost)
		end
	else
		pinfo.cols.src = "node " .. header.peer
		pinfo.cols.dst = "node " .. r.target
		match_response(pinfo, part, header.node, r.id)
		if r.status ~= 0 then
			part:add_proto_expert_info(e.refused)
		end
	end
	local info = describe(header, r, request)
	pinfo.cols.info = info
	tree:append_text(", " .. info)
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, aries)
