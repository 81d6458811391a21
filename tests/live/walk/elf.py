# SPDX-License-Identifier: Apache-2.0
"""Small ELF64 + .eh_frame reader (lazy, via .eh_frame_hdr binary search)."""
import struct, bisect
class ELF:
    def __init__(self, data, path=''):
        self.d = data; self.path = path
        assert data[:4] == b'\x7fELF'
        self.machine = struct.unpack_from('<H', data, 18)[0]
        phoff, shoff = struct.unpack_from('<QQ', data, 32)
        phes, phn, shes, shn, shstr = struct.unpack_from('<HHHHH', data, 54)
        self.ph = []
        for i in range(phn):
            t, f, o, va, pa, fs, ms, al = struct.unpack_from('<IIQQQQQQ', data, phoff + i*phes)
            self.ph.append((t, f, o, va, fs, ms, al))
        self.sh = {}
        self.shl = []
        try:
            for i in range(shn):
                n, t, f, a, o, sz, l, inf, al, es = struct.unpack_from('<IIQQQQIIQQ', data, shoff + i*shes)
                self.shl.append([n, t, f, a, o, sz, l, es])
            st = self.shl[shstr]
            for s in self.shl:
                nm = self._cstr(st[4] + s[0]); s[0] = nm; self.sh.setdefault(nm, s)
        except Exception: pass
        self._dyn = None; self._sym = None; self._fsyms = None
        self.hdr = None
        for t, f, o, va, fs, ms, al in self.ph:
            if t == 0x6474e550: self.hdr = (o, va, fs)
        self._tab = None; self.cies = {}
    def _cstr(self, o):
        e = self.d.index(b'\0', o); return self.d[o:e].decode('latin1')
    def _syms(self, sec):
        s = self.sh.get(sec); r = []
        if not s: return r
        strs = self.shl[s[6]]; d = self.d
        for i in range(s[5]//24):
            n, info, oth, shx, val, sz = struct.unpack_from('<IBBHQQ', d, s[4]+i*24)
            if shx == 0 or val == 0: continue
            r.append((self._cstr(strs[4]+n), info & 15, val, sz))
        return r
    @property
    def dynsyms(self):
        if self._dyn is None: self._dyn = {n: v for n, t, v, s in self._syms('.dynsym')}
        return self._dyn
    def sym(self, va):
        if self._fsyms is None:
            fs = [(v, s, n) for sec in ('.symtab', '.dynsym') for n, t, v, s in self._syms(sec) if t in (2, 10)]
            fs.sort(); self._fsyms = fs; self._fk = [f[0] for f in fs]
        i = bisect.bisect_right(self._fk, va) - 1
        if i >= 0:
            v, s, n = self._fsyms[i]
            if va < v + max(s, 1) : return n, va - v
        return None
    def v2o(self, va):
        for t, f, o, v, fs, ms, al in self.ph:
            if t == 1 and v <= va < v + fs: return o + va - v
        raise KeyError(hex(va))
    def uleb(self, o):
        r = s = 0
        while True:
            b = self.d[o]; o += 1; r |= (b & 0x7f) << s; s += 7
            if not b & 0x80: return r, o
    def sleb(self, o):
        r = s = 0
        while True:
            b = self.d[o]; o += 1; r |= (b & 0x7f) << s; s += 7
            if not b & 0x80:
                return (r - (1 << s) if b & 0x40 else r), o
    def enc(self, e, o, va, datarel=0):
        if e == 0xff: return None, o
        f = e & 15; o0 = o
        if f == 0: v = struct.unpack_from('<Q', self.d, o)[0]; o += 8
        elif f == 1: v, o = self.uleb(o)
        elif f == 2: v = struct.unpack_from('<H', self.d, o)[0]; o += 2
        elif f == 3: v = struct.unpack_from('<I', self.d, o)[0]; o += 4
        elif f == 4: v = struct.unpack_from('<Q', self.d, o)[0]; o += 8
        elif f == 9: v, o = self.sleb(o)
        elif f == 10: v = struct.unpack_from('<h', self.d, o)[0]; o += 2
        elif f == 11: v = struct.unpack_from('<i', self.d, o)[0]; o += 4
        elif f == 12: v = struct.unpack_from('<q', self.d, o)[0]; o += 8
        if v != 0 or True:
            a = e & 0x70
            if a == 0x10: v += va + (o0 - o0)   # pcrel: va is the address of the field
            elif a == 0x30: v += datarel
        return v & (1 << 64) - 1, o
    def table(self):
        if self._tab is None:
            self._tab = ([], [])
            if self.hdr:
                o, va, fs = self.hdr
                ver, pe, ce, te = self.d[o:o+4]
                p = o + 4
                eh, p2 = self.enc(pe, p, va + p - o, va); p = p2
                self.eh_va = eh
                n, p = self.enc(ce, p, va + p - o, va)
                if te == 0x3b:
                    arr = struct.unpack_from('<%di' % (2*n), self.d, p)
                    self._tab = ([va + x for x in arr[0::2]], [va + x for x in arr[1::2]])
        return self._tab
    def find_fde(self, va):
        a, f = self.table()
        i = bisect.bisect_right(a, va) - 1
        if i < 0: return None
        fde = self.fde(f[i])
        if fde and fde['lo'] <= va < fde['hi']: return fde
        return None
    def cie(self, va):
        c = self.cies.get(va)
        if c: return c
        o = self.v2o(va); ln = struct.unpack_from('<I', self.d, o)[0]
        end = o + 4 + ln; p = o + 8
        ver = self.d[p]; p += 1
        aug = self._cstr(p); p += len(aug) + 1
        caf, p = self.uleb(p); daf, p = self.sleb(p); ra, p = self.uleb(p)
        c = dict(caf=caf, daf=daf, ra=ra, aug=aug, fenc=0, lsda=0xff, sig='S' in aug)
        if aug.startswith('z'):
            l, p = self.uleb(p); q = p
            for ch in aug[1:]:
                if ch == 'R': c['fenc'] = self.d[q]; q += 1
                elif ch == 'L': c['lsda'] = self.d[q]; q += 1
                elif ch == 'P':
                    e = self.d[q]; q += 1; _, q = self.enc(e, q, 0)
            p += l
        c['ins'] = (p, end); self.cies[va] = c
        return c
    def fde(self, va):
        o = self.v2o(va); ln = struct.unpack_from('<I', self.d, o)[0]
        cptr = struct.unpack_from('<I', self.d, o+4)[0]
        if cptr == 0: return None
        c = self.cie(va + 4 - cptr)
        end = o + 4 + ln; p = o + 8
        lo, p2 = self.enc(c['fenc'], p, va + p - o)
        sz, p = self.enc(c['fenc'] & 15, p2, 0)
        if c['aug'].startswith('z'):
            l, p = self.uleb(p); p += l
        return dict(lo=lo, hi=lo+sz, cie=c, ins=(p, end))
    def rules_at(self, fde, va):
        """-> (cfa_rule, {reg: rule}); rule: ('o',off) ('v',off) ('r',reg) ('e',(o,l)) ('ve',..) ('u',)"""
        for r in self.rows(fde, va): last = r
        return last[1], last[2]
    def rows(self, fde, stop=None):
        """generate (addr, cfa, regs) rows; when stop given, ends at the row covering stop"""
        c = fde['cie']; regs = {}; cfa = None; stack = []; loc = fde['lo']
        rows = []
        def run(p, end, init):
            nonlocal regs, cfa, loc
            d = self.d; caf = c['caf']; daf = c['daf']
            while p < end:
                b = d[p]; p += 1; hi = b & 0xc0; lo = b & 0x3f
                if hi == 0x40: nl = loc + lo*caf
                elif hi == 0x80:
                    n, p = self.uleb(p); regs[lo] = ('o', n*daf); continue
                elif hi == 0xc0:
                    if lo in init: regs[lo] = init[lo]
                    else: regs.pop(lo, None)
                    continue
                elif b == 0: continue
                elif b == 1: nl, p = self.enc(c['fenc'], p, 0)
                elif b == 2: nl = loc + d[p]*caf; p += 1
                elif b == 3: nl = loc + struct.unpack_from('<H', d, p)[0]*caf; p += 2
                elif b == 4: nl = loc + struct.unpack_from('<I', d, p)[0]*caf; p += 4
                elif b == 5:
                    r, p = self.uleb(p); n, p = self.uleb(p); regs[r] = ('o', n*daf); continue
                elif b == 6:
                    r, p = self.uleb(p)
                    if r in init: regs[r] = init[r]
                    else: regs.pop(r, None)
                    continue
                elif b == 7: r, p = self.uleb(p); regs[r] = ('u',); continue
                elif b == 8: r, p = self.uleb(p); regs.pop(r, None); continue
                elif b == 9: r, p = self.uleb(p); r2, p = self.uleb(p); regs[r] = ('r', r2); continue
                elif b == 10: stack.append((dict(regs), cfa)); continue
                elif b == 11: rr, cfa = stack.pop(); regs = dict(rr); continue
                elif b == 12: r, p = self.uleb(p); n, p = self.uleb(p); cfa = ('reg', r, n); continue
                elif b == 13: r, p = self.uleb(p); cfa = ('reg', r, cfa[2]); continue
                elif b == 14: n, p = self.uleb(p); cfa = ('reg', cfa[1], n); continue
                elif b == 15: l, p = self.uleb(p); cfa = ('expr', p, l); p += l; continue
                elif b == 16: r, p = self.uleb(p); l, p = self.uleb(p); regs[r] = ('e', p, l); p += l; continue
                elif b == 17: r, p = self.uleb(p); n, p = self.sleb(p); regs[r] = ('o', n*daf); continue
                elif b == 18: r, p = self.uleb(p); n, p = self.sleb(p); cfa = ('reg', r, n*daf); continue
                elif b == 19: n, p = self.sleb(p); cfa = ('reg', cfa[1], n*daf); continue
                elif b == 20: r, p = self.uleb(p); n, p = self.uleb(p); regs[r] = ('v', n*daf); continue
                elif b == 22: r, p = self.uleb(p); l, p = self.uleb(p); regs[r] = ('ve', p, l); p += l; continue
                elif b == 0x2e: n, p = self.uleb(p); continue
                elif b == 0x2d: continue
                else: raise ValueError('CFA op %#x' % b)
                # advance
                if stop is not None and nl > stop: return True
                rows.append((loc, cfa, dict(regs))); loc = nl
            return False
        run(c['ins'][0], c['ins'][1], {})
        init = dict(regs); rows.clear(); loc = fde['lo']
        run(fde['ins'][0], fde['ins'][1], init)
        rows.append((loc, cfa, dict(regs)))
        return rows
    def expr(self, o, l, regs, cfa, rd):
        st = [] if cfa is None else [cfa]
        p, end = o, o + l; d = self.d; M = (1 << 64) - 1
        while p < end:
            b = d[p]; p += 1
            if 0x70 <= b <= 0x8f: n, p = self.sleb(p); st.append((regs[b-0x70] + n) & M)
            elif 0x30 <= b <= 0x4f: st.append(b - 0x30)
            elif 0x50 <= b <= 0x6f: st.append(regs[b-0x50])
            elif b == 6: st.append(rd(st.pop()))
            elif b == 0x22: a = st.pop(); st.append((st.pop() + a) & M)
            elif b == 0x1c: a = st.pop(); st.append((st.pop() - a) & M)
            elif b == 0x1a: a = st.pop(); st.append(st.pop() & a)
            elif b == 0x23: n, p = self.uleb(p); st.append((st.pop() + n) & M)
            elif b == 0x24: a = st.pop(); st.append((st.pop() << a) & M)
            elif b == 0x25: a = st.pop(); st.append(st.pop() >> a)
            elif b == 0x2a: a = st.pop(); st.append(int(st.pop() >= a))
            elif b == 8: st.append(d[p]); p += 1
            elif b == 9: st.append(struct.unpack_from('<b', d, p)[0] & M); p += 1
            elif b == 0xa: st.append(struct.unpack_from('<H', d, p)[0]); p += 2
            elif b == 0xb: st.append(struct.unpack_from('<h', d, p)[0] & M); p += 2
            elif b == 0xc: st.append(struct.unpack_from('<I', d, p)[0]); p += 4
            elif b == 0xd: st.append(struct.unpack_from('<i', d, p)[0] & M); p += 4
            elif b == 0x10: n, p = self.uleb(p); st.append(n)
            elif b == 0x11: n, p = self.sleb(p); st.append(n & M)
            elif b == 0x12: st.append(st[-1])
            elif b == 0x16: st[-1], st[-2] = st[-2], st[-1]
            elif b == 0x96: pass
            else: raise ValueError('DW_OP %#x' % b)
        return st[-1]
