# SPDX-License-Identifier: Apache-2.0
"""HotSpot vmStructs reader for a live process (read-only, from outside)."""
import os, struct, sys

class Mem:
    def __init__(self, pid):
        self.pid = pid
        self.fd = os.open("/proc/%d/mem" % pid, os.O_RDONLY)
        self.cache = {}
    def read(self, addr, n):
        if addr <= 0 or addr >= 1 << 63: raise OSError("bad addr %#x" % addr)
        out = b''
        while n > 0:
            pg = addr & ~0xfff
            b = self.cache.get(pg)
            if b is None:
                try: b = os.pread(self.fd, 4096, pg)
                except OSError: raise OSError("unreadable %#x" % addr)
                if len(b) < 4096: raise OSError("unreadable %#x" % addr)
                self.cache[pg] = b
            o = addr - pg
            part = b[o:o+n]
            out += part; addr += len(part); n -= len(part)
        return out
    def u8(self, a): return self.read(a, 1)[0]
    def s8(self, a): return struct.unpack('<b', self.read(a, 1))[0]
    def u16(self, a): return struct.unpack('<H', self.read(a, 2))[0]
    def s16(self, a): return struct.unpack('<h', self.read(a, 2))[0]
    def u32(self, a): return struct.unpack('<I', self.read(a, 4))[0]
    def s32(self, a): return struct.unpack('<i', self.read(a, 4))[0]
    def u64(self, a): return struct.unpack('<Q', self.read(a, 8))[0]
    def cstr(self, a, lim=4096):
        out = b''
        while lim > 0:
            n = min(0x1000 - (a & 0xfff), lim)
            b = self.read(a, n)
            i = b.find(b'\0')
            if i >= 0: return (out + b[:i]).decode('utf-8', 'replace')
            out += b; a += n; lim -= n
        return out.decode('utf-8', 'replace')

def maps(pid):
    r = []
    for l in open("/proc/%d/maps" % pid):
        p = l.split(None, 5)
        s, e = (int(x, 16) for x in p[0].split('-'))
        r.append((s, e, p[1], int(p[2], 16), p[5].strip() if len(p) > 5 else ''))
    return r

class VMStructs:
    def __init__(self, mem, elf, bias):
        self.mem = mem; self.bias = bias
        S = {n: v for n, v in elf.dynsyms.items() if n.startswith('gHotSpot')}
        self.S = S
        g = lambda n: mem.u64(S[n] + bias)
        self.fields = {}; self.statics = {}; self.types = {}; self.supers = {}; self.ftypes = {}
        self.iconst = {}; self.lconst = {}
        p = g('gHotSpotVMStructs'); st = g('gHotSpotVMStructEntryArrayStride')
        to, fo, ts = g('gHotSpotVMStructEntryTypeNameOffset'), g('gHotSpotVMStructEntryFieldNameOffset'), g('gHotSpotVMStructEntryTypeStringOffset')
        so, oo, ao = g('gHotSpotVMStructEntryIsStaticOffset'), g('gHotSpotVMStructEntryOffsetOffset'), g('gHotSpotVMStructEntryAddressOffset')
        while True:
            t = mem.u64(p + to)
            if t == 0: break
            t = mem.cstr(t); f = mem.cstr(mem.u64(p + fo)); tsn = mem.u64(p + ts)
            if mem.u32(p + so): self.statics[t, f] = mem.u64(p + ao)
            else: self.fields[t, f] = mem.u64(p + oo)
            self.ftypes[t, f] = mem.cstr(tsn) if tsn else ''
            p += st
        p = g('gHotSpotVMTypes'); st = g('gHotSpotVMTypeEntryArrayStride')
        to, su, zo = g('gHotSpotVMTypeEntryTypeNameOffset'), g('gHotSpotVMTypeEntrySuperclassNameOffset'), g('gHotSpotVMTypeEntrySizeOffset')
        while True:
            t = mem.u64(p + to)
            if t == 0: break
            t = mem.cstr(t); s = mem.u64(p + su)
            self.types[t] = mem.u64(p + zo); self.supers[t] = mem.cstr(s) if s else None
            p += st
        for kind, d, rd in (('Int', self.iconst, mem.s32), ('Long', self.lconst, mem.u64)):
            p = g('gHotSpotVM%sConstants' % kind); st = g('gHotSpotVM%sConstantEntryArrayStride' % kind)
            no, vo = g('gHotSpotVM%sConstantEntryNameOffset' % kind), g('gHotSpotVM%sConstantEntryValueOffset' % kind)
            while True:
                n = mem.u64(p + no)
                if n == 0: break
                d[mem.cstr(n)] = rd(p + vo); p += st
    def off(self, t, *names, default=None):
        tt = t
        while tt:
            for n in names:
                if (tt, n) in self.fields: return self.fields[tt, n]
            tt = self.supers.get(tt)
        return default
    def static(self, t, *names):
        for n in names:
            if (t, n) in self.statics: return self.statics[t, n]
        return None
