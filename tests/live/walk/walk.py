#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""walk.py PID [--json] [--java-only] [--tid N] [--keep N]
Walks every thread of a live HotSpot JVM from outside: ptrace stop, registers, vmStructs + .eh_frame. x86_64 only.
Reference walker and test oracle: favours exactness over speed (it stops the target by ptrace; the product never does)."""
import sys, os, struct, ctypes, json, bisect, time, argparse
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from vmstructs import Mem, VMStructs, maps
from elf import ELF

M64 = (1 << 64) - 1
RNAMES = "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base ds es fs gs".split()
DW = dict(rax=0, rdx=1, rcx=2, rbx=3, rsi=4, rdi=5, rbp=6, rsp=7, r8=8, r9=9, r10=10, r11=11, r12=12, r13=13, r14=14, r15=15, rip=16)
CALLEE = (3, 6, 12, 13, 14, 15)

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long
def ptrace(req, tid, addr=0, data=0): return libc.ptrace(req, tid, addr, data)
def stop_all(pid):
    """PTRACE_SEIZE + INTERRUPT until no new thread shows up; -> {tid: regs}"""
    done = {}
    while True:
        new = [int(t) for t in os.listdir('/proc/%d/task' % pid) if int(t) not in done]
        if not new: break
        got = []
        for t in new:
            if ptrace(0x4206, t) == 0 and ptrace(0x4207, t) == 0: got.append(t)
            done[t] = None
        for t in got:
            try: os.waitpid(t, 0x40000000)
            except OSError: continue
            buf = ctypes.create_string_buffer(27*8)
            if ptrace(12, t, 0, ctypes.addressof(buf)) == 0:
                done[t] = dict(zip(RNAMES, struct.unpack('<27Q', buf.raw)))
    return done
def release(tids):
    for t in tids: ptrace(17, t)

class Frame(dict): pass
class Blob: __slots__ = ('addr name kind size cb ce fs fc nm').split()

class JVM:
    def __init__(self, pid):
        self.pid = pid; self.mem = Mem(pid); self.maps = maps(pid); self.elfs = {}
        self.lib = None
        for s, e, p, o, n in self.maps:
            if n.endswith('/libjvm.so'): self.lib = (s, n) if o == 0 else self.lib; break
        if not self.lib: raise SystemExit('no libjvm.so in %d' % pid)
        e, b = self.elf_at(self.lib[0]); self.libelf, self.libbias = e, b
        v = self.v = VMStructs(self.mem, e, b); m = self.mem
        off = v.off
        self.major = m.s32(v.static('Abstract_VM_Version', '_vm_major_version')) if v.static('Abstract_VM_Version', '_vm_major_version') else 8
        if ('JDK_Version', '_current') in v.statics: self.major = m.u32(v.statics['JDK_Version', '_current']) & 0xff or self.major
        self.release = m.cstr(m.u64(v.static('Abstract_VM_Version', '_s_vm_release')))
        self.ux = 1 if self.major >= 20 else 0
        # offsets
        self.o = o = {}
        def need(k, t, *names, **kw):
            o[k] = off(t, *names, **kw)
        need('name', 'CodeBlob', '_name'); need('size', 'CodeBlob', '_size'); need('fs', 'CodeBlob', '_frame_size')
        need('fc', 'CodeBlob', '_frame_complete_offset'); need('cbegin', 'CodeBlob', '_code_begin'); need('coff', 'CodeBlob', '_code_offset')
        need('cend', 'CodeBlob', '_code_end'); need('doff', 'CodeBlob', '_data_offset'); need('kind', 'CodeBlob', '_kind')
        need('mdata', 'CodeBlob', '_mutable_data'); need('mdsz', 'CodeBlob', '_mutable_data_size'); need('relsz', 'CodeBlob', '_relocation_size')
        need('nm_method', 'nmethod', '_method'); need('cid', 'nmethod', '_compile_id'); need('lvl', 'nmethod', '_comp_level')
        need('meta', 'nmethod', '_metadata_offset'); need('sd', 'nmethod', '_scopes_data_offset'); need('sdb', 'nmethod', '_scopes_data_begin')
        need('sp', 'nmethod', '_scopes_pcs_offset'); need('dep', 'nmethod', '_dependencies_offset'); need('imm', 'nmethod', '_immutable_data')
        need('immsz', 'nmethod', '_immutable_data_size'); need('opc', 'nmethod', '_orig_pc_offset')
        need('dh', 'nmethod', '_deopt_handler_begin'); need('dho', 'nmethod', '_deopt_handler_offset', '_deopt_handler_entry_offset', '_deoptimize_offset')
        need('dmh', 'nmethod', '_deopt_mh_handler_begin'); need('dmho', 'nmethod', '_deopt_mh_handler_offset', '_deoptimize_mh_offset')
        need('vep', 'nmethod', '_verified_entry_point'); need('veo', 'nmethod', '_verified_entry_offset'); need('ebci', 'nmethod', '_entry_bci')
        need('state', 'nmethod', '_state')
        self.hb = v.types['HeapBlock']; self.hbused = off('HeapBlock::Header', '_used')
        self.fc16 = v.ftypes.get(('CodeBlob', '_frame_complete_offset')) == 'int16_t'
        vs = lambda f: v.fields['VirtualSpace', f]
        hm, hs, hl = (v.fields['CodeHeap', x] for x in ('_memory', '_segmap', '_log2_segment_size'))
        if ('CodeCache', '_heaps') in v.statics:
            ga = m.u64(v.statics['CodeCache', '_heaps'])
            n = m.s32(ga + (off('GrowableArrayBase', '_len') if ('GrowableArrayBase', '_len') in v.fields else off('GenericGrowableArray', '_len')))
            d = m.u64(ga + v.fields['GrowableArray<int>', '_data'])
            hp = [m.u64(d + 8*i) for i in range(n)]
        else: hp = [m.u64(v.statics['CodeCache', '_heap'])]
        self.heaps = [(m.u64(h+hm+vs('_low_boundary')), m.u64(h+hm+vs('_high_boundary')), m.u64(h+hs+vs('_low_boundary')), m.s32(h+hl),
                       m.u64(h+hm+vs('_high'))) for h in hp]
        self.csra = m.u64(v.static('StubRoutines', '_call_stub_return_address'))
        cc = v.static('ContinuationEntry', '_return_pc')
        self.cont_ret = m.u64(cc) if cc else None
        self.kinds = {val: n.split('::')[1] for n, val in v.iconst.items() if n.startswith('CodeBlobKind::')}
        self.syms = {}; self.methods = {}; self.nms = {}
        # interpreter codelets
        self.codelets = []
        try:
            q = m.u64(v.static('AbstractInterpreter', '_code')); buf = m.u64(q + off('StubQueue', '_stub_buffer')); lim = m.s32(q + off('StubQueue', '_buffer_limit'))
            end = m.s32(q + off('StubQueue', '_queue_end')); p = 0; lim = end or lim
            while p < lim:
                sz = m.s32(buf + p + off('InterpreterCodelet', '_size')); dn = m.u64(buf + p + off('InterpreterCodelet', '_description'))
                if sz <= 0: break
                self.codelets.append((buf + p, buf + p + sz, m.cstr(dn) if dn else '?')); p += sz
        except Exception: pass
        self.threads = {}
        tl = m.u64(v.static('ThreadsSMRSupport', '_java_thread_list')) if v.static('ThreadsSMRSupport', '_java_thread_list') else 0
        if tl:
            n = m.u32(tl + v.fields['ThreadsList', '_length']); arr = m.u64(tl + v.fields['ThreadsList', '_threads'])
            for i in range(n):
                jt = m.u64(arr + 8*i); ost = m.u64(jt + off('JavaThread', '_osthread'))
                if ost: self.threads[m.s32(ost + off('OSThread', '_thread_id'))] = jt
        self.bpc = {}
    # ---- ELF
    def elf_at(self, addr):
        i = bisect.bisect_right(self.maps, (addr, 1 << 65)) - 1
        if i < 0: return None, 0
        s, e, p, o, n = self.maps[i]
        if not (s <= addr < e): return None, 0
        if n == '[vdso]':
            if n not in self.elfs: self.elfs[n] = ELF(self.mem.read(s, e - s), n)
            el = self.elfs[n]; return el, s - min(x[3] for x in el.ph if x[0] == 1)
        if not n.startswith('/'): return None, 0
        if n not in self.elfs:
            el = None
            for path in ('/proc/%d/map_files/%x-%x' % (self.pid, s, e), '/proc/%d/root%s' % (self.pid, n)):
                try: el = ELF(open(path, 'rb').read(), n); break
                except Exception: pass
            self.elfs[n] = el
        el = self.elfs[n]
        if not el: return None, 0
        fo = o + addr - s
        for t, f, off_, va, fs, ms, al in el.ph:
            if t == 1 and (f & 1) and off_ <= fo < off_ + ((fs + 0xfff) & ~0xfff): return el, addr - (va + fo - off_)
        for t, f, off_, va, fs, ms, al in el.ph:
            if t == 1 and off_ <= fo < off_ + fs: return el, addr - (va + fo - off_)
        return el, s - o
    def is_exec(self, a):
        i = bisect.bisect_right(self.maps, (a, 1 << 65)) - 1
        return i >= 0 and self.maps[i][0] <= a < self.maps[i][1] and 'x' in self.maps[i][2]
    # ---- code cache
    def in_cc(self, pc): return any(l <= pc < h for l, h, s, sh, c in self.heaps)
    def blob(self, pc, hops=None):
        for lo, hi, seg, sh, com in self.heaps:
            if lo <= pc < com:
                i = (pc - lo) >> sh; n = 0
                t = self.mem.u8(seg + i)
                if t == 0xff: return None
                while t:
                    i -= t; n += 1; t = self.mem.u8(seg + i)
                    if n > 4096 or i < 0: return None
                if hops is not None: hops.append(n)
                blk = lo + (i << sh)
                if not self.mem.u8(blk + self.hbused): return None
                a = blk + self.hb
                if a in self.bpc: return self.bpc[a]
                m = self.mem; o = self.o
                b = Blob(); b.addr = a; b.size = m.s32(a + o['size']); b.fs = m.s32(a + o['fs'])
                b.fc = m.s16(a + o['fc']) if self.fc16 else m.s32(a + o['fc'])
                nm = m.u64(a + o['name']); b.name = m.cstr(nm, 256) if nm else '?'
                if o['cbegin'] is not None: b.cb = m.u64(a + o['cbegin']); b.ce = m.u64(a + o['cend'])
                else: b.cb = a + m.s32(a + o['coff']); b.ce = a + m.s32(a + o['doff'])
                b.kind = self.kinds.get(m.u8(a + o['kind'])) if o['kind'] is not None else None
                b.nm = b.name in ('nmethod', 'native nmethod')
                self.bpc[a] = b
                return b
        return None
    # ---- symbols
    def symbol(self, a):
        if a not in self.syms:
            v = self.v; m = self.mem
            if ('Symbol', '_length') in v.fields: n = m.u16(a + v.fields['Symbol', '_length'])
            else: n = m.u32(a + v.fields['Symbol', '_length_and_refcount']) >> 16
            self.syms[a] = m.read(a + v.fields['Symbol', '_body'], n).decode('utf-8', 'replace')
        return self.syms[a]
    def method(self, a):
        if a in self.methods: return self.methods[a]
        v = self.v; m = self.mem; F = v.fields
        cm = m.u64(a + F['Method', '_constMethod']); cp = m.u64(cm + F['ConstMethod', '_constants'])
        ik = m.u64(cp + F['ConstantPool', '_pool_holder'])
        cps = v.types['ConstantPool']
        ps = lambda i: self.symbol(m.u64(cp + cps + 8*i) & ~1)
        name = ps(m.u16(cm + F['ConstMethod', '_name_index'])); sig = ps(m.u16(cm + F['ConstMethod', '_signature_index']))
        kn = self.symbol(m.u64(ik + v.off('InstanceKlass', '_name')))
        cs = m.u16(cm + F['ConstMethod', '_code_size']); csz = v.types['ConstMethod']
        fo = F.get(('ConstMethod', '_flags'), F.get(('ConstMethod', '_flags._flags')))
        fl = m.u8(cm + fo)
        sfi = F.get(('ConstantPool', '_source_file_name_index'))
        # the file name index belongs to the holder's pool: method-handle intrinsics have a private 3-entry pool whose copied index is out of range
        hcp = m.u64(ik + v.off('InstanceKlass', '_constants'))
        si = m.u16(hcp + sfi) if sfi is not None else m.u16(ik + F['InstanceKlass', '_source_file_name_index'])
        src = self.symbol(m.u64(hcp + cps + 8*si) & ~1) if si else None
        acc = m.u32(a + F['Method', '_access_flags']) & 0xffff
        r = dict(addr=a, cm=cm, code=cm + csz, csize=cs, cls=kn, name=name, sig=sig, src=src, native=bool(acc & 0x100), lines=[])
        if fl & 1:
            p = cm + csz + cs; bci = ln = 0
            def rb():
                nonlocal p
                p += 1; return m.u8(p - 1)
            def u5():
                c = rb(); s = c - self.ux
                sh = 6
                while c >= 192 and sh < 30: c = rb(); s += (c - self.ux) << sh; sh += 6
                return s & 0xffffffff
            def s5():
                x = u5(); x = (x >> 1) ^ -(x & 1); return x
            while True:
                b = rb()
                if b == 0: break
                if b == 0xff: bci += s5(); ln += s5()
                else: bci += b >> 3; ln += b & 7
                r['lines'].append((bci, ln))
        self.methods[a] = r
        return r
    def line(self, me, bci):
        if bci < 0: return -2 if me['native'] else (me['lines'][0][1] if me['lines'] and bci == -1 else -1)
        best = -1; bl = -1
        for b, l in me['lines']:
            if b == bci: return l
            if b < bci and b >= best: best, bl = b, l
        return bl
    def jframe(self, typ, ma, bci, **kw):
        me = self.method(ma)
        if me['native']: bci = -1
        return Frame(type=typ, cls=me['cls'], name=me['name'], sig=me['sig'], bci=bci, line=self.line(me, bci), src=me['src'], **kw)
    # ---- nmethod debug info
    def nminfo(self, b):
        if b.addr in self.nms: return self.nms[b.addr]
        m = self.mem; o = self.o; a = b.addr
        if o['imm'] is not None:
            imm = m.u64(a + o['imm']); so, po = m.s32(a + o['sd']), m.s32(a + o['sp'])
            scopes = imm + so; pcs = imm + po; npcs = (so - po)//16
            if o['mdata'] is not None: meta = m.u64(a + o['mdata']) + m.s32(a + o['relsz'])
            else: meta = a + m.s32(a + o['doff']) + m.u16(a + o['meta'])
        else:
            po = m.s32(a + o['sp']); pcs = a + po; npcs = (m.s32(a + o['dep']) - po)//16
            scopes = m.u64(a + o['sdb']) if o['sdb'] is not None else a + m.s32(a + o['sd'])
            meta = a + m.s32(a + o['meta'])
        raw = m.read(pcs, npcs*16) if npcs > 0 else b''
        pd = [struct.unpack_from('<iiii', raw, i*16) for i in range(npcs)]
        if o['dh'] is not None: dh, dmh = m.u64(a + o['dh']), m.u64(a + o['dmh'])
        else:
            dh = a + m.s32(a + o['dho']); dmh = a + m.s32(a + o['dmho']) if o['dmho'] is not None else 0
        ve = m.u64(a + o['vep']) if o['vep'] is not None else b.cb + m.u16(a + o['veo'])
        r = dict(scopes=scopes, pd=pd, meta=meta, level=m.s8(a + o['lvl']), method=m.u64(a + o['nm_method']), cid=m.s32(a + o['cid']),
                 dh=dh, dmh=dmh, opc=m.s32(a + o['opc']), ve=ve, ebci=m.s32(a + o['ebci']))
        self.nms[a] = r; return r
    def u5(self, p):
        m = self.mem; c = m.u8(p); p += 1; s = c - self.ux; sh = 6
        while c >= 192 and sh < 30: c = m.u8(p); p += 1; s += (c - self.ux) << sh; sh += 6
        return s & 0xffffffff, p
    def nmframes(self, b, pc, leaf):
        r = self.nminfo(b); lvl = r['level']
        base = 'C1' if 1 <= lvl <= 3 else 'C2' if lvl == 4 else 'NativeWrapper'
        if b.name == 'native nmethod': return [self.jframe('Native', r['method'], -1, level=lvl)]
        off = pc - b.cb; pd = None; exact = False
        want = off + 1 if leaf else off
        for d in r['pd']:
            if d[0] == off and not leaf: pd = d; exact = True; break
            if d[0] >= want and d[0] >= 0: pd = d; break
        if not pd or pd[1] == 0: return [self.jframe(base, r['method'], 0, level=lvl, exact=False)]
        out = []; so = pd[1]
        while so and len(out) < 200:
            p = r['scopes'] + so
            snd, p = self.u5(p); mi, p = self.u5(p); bci, p = self.u5(p); bci -= 1
            ma = self.mem.u64(r['meta'] + 8*(mi - 1)) if mi else r['method']
            out.append(self.jframe('Inlined' if snd else base, ma, bci, level=lvl, exact=exact))
            if snd >= so: break
            so = snd
        return out
    # ---- walking
    def walk(self, regs, lim=2048):
        m = self.mem; R = {DW[k]: regs[k] for k in DW}
        fr = []; leaf = True; note = None; prev = None
        insys = regs['orig_rax'] != M64
        self.tr = tr = []
        ret = False
        while len(fr) < lim:
            pc, sp, fp = R[16], R[7], R[6]
            if pc < 0x1000: break
            if prev == (pc, sp): note = 'loop at %#x' % pc; break
            prev = (pc, sp)
            try:
                if self.in_cc(pc):
                    note = self.step_java(R, fr, leaf, regs, tr)
                else:
                    note = self.step_native(R, fr, leaf, insys)
            except (OSError, KeyError, ValueError, IndexError, struct.error) as e:
                note = 'err %s %s pc=%#x sp=%#x' % (type(e).__name__, e, pc, sp)
            if note: break
            leaf = R.pop('leaf', False)
            if R[7] < sp and R[7] != sp: note = 'sp went down'; break
        return fr, (None if note == 'end' else note)
    def code_ok(self, a):
        """plausible return address"""
        if self.in_cc(a):
            b = self.blob(a); return b is not None and b.cb < a <= b.ce
        return self.is_exec(a)
    def sane_ra(self, a): return a > 0x1000 and self.code_ok(a)
    def step_native(self, R, fr, leaf, insys):
        m = self.mem; pc = R[16]; q = pc if leaf else pc - 1
        el, bias = self.elf_at(q)
        if not el:
            fr.append(Frame(type='Unknown', name=hex(pc))); return 'no mapping %#x' % pc
        s = el.sym(q - bias); base = os.path.basename(el.path)
        fr.append(Frame(type='Native', lib=base, name=(s[0] if s else None), off=(s[1] if s else q - bias), pc=pc))
        fde = el.find_fde(q - bias)
        if not fde:
            # no FDE: frame pointer fallback
            fp = R[6]
            if R[7] <= fp < R[7] + 0x40000 and self.sane_ra(m.u64(fp + 8)):
                R[16] = m.u64(fp + 8); R[7] = fp + 16; R[6] = m.u64(fp); fr[-1]['via'] = 'fp'; return None
            return 'no FDE %s+%#x' % (base, q - bias)
        cfa_r, rules = el.rules_at2(fde, q - bias) if hasattr(el, 'rules_at2') else el.rules_at(fde, q - bias)
        rd = lambda a: m.u64(a)
        if cfa_r[0] == 'reg': cfa = (R[cfa_r[1]] + cfa_r[2]) & M64
        else: cfa = el.expr(cfa_r[1], cfa_r[2], R, None, rd)
        N = dict(R); ra = fde['cie']['ra']
        for r, ru in rules.items():
            if ru[0] == 'o': N[r] = m.u64((cfa + ru[1]) & M64)
            elif ru[0] == 'v': N[r] = cfa + ru[1]
            elif ru[0] == 'r': N[r] = R[ru[1]]
            elif ru[0] == 'e': N[r] = m.u64(el.expr(ru[1], ru[2], R, cfa, rd))
            elif ru[0] == 've': N[r] = el.expr(ru[1], ru[2], R, cfa, rd)
            elif ru[0] == 'u': N[r] = 0
        if 7 not in rules: N[7] = cfa
        if ra not in rules: return 'end' if False else 'no RA rule'
        if rules[ra][0] == 'u': return 'end'
        N[16] = N[ra]
        R.clear(); R.update(N)
        if fde['cie']['sig']: R['leaf'] = True; fr[-1]['sig'] = True
        if R[16] == 0: return 'end'
        return None
    def step_java(self, R, fr, leaf, regs, tr):
        m = self.mem; pc, sp, fp = R[16], R[7], R[6]
        b = self.blob(pc if leaf else pc - 1)
        if b is None: return 'no blob for %#x' % pc
        W = lambda a: m.u64(a)
        def to(pc, sp, fp): R[16], R[7], R[6] = pc, sp, fp
        if b.name == 'Interpreter': return self.step_interp(R, fr, leaf, b, tr)
        if b.nm:
            r = self.nminfo(b)
            if not leaf and pc in (r['dh'], r['dmh']):
                o = W(sp + r['opc'])
                tr.append('deopt pc %#x orig %#x' % (pc, o))
                if b.cb <= o < b.ce: pc = o; fr_deopt = True
            self.tmp = None
            fr += self.nmframes(b, pc, leaf)
            code = m.read(pc, 16)
            if leaf:
                how = self.leaf_nm(R, b, r, pc, sp, fp, code, W)
                fr[-1]['via'] = how
                if how == 'ra': to(W(sp), sp + 8, fp); return None
                if how == 'rbp+ra': to(W(sp + 8), sp + 16, W(sp)); return None
                if how == 'rax': to(R[0], sp, fp); return None
            if b.fs == 0: fr[-1]['via'] = 'fs0'; to(W(sp), sp + 8, fp); return None   # method-handle intrinsic: no frame
            s2 = sp + b.fs*8
            ra = W(s2 - 8)
            if not self.sane_ra(ra) :
                for k in range(1, 8):
                    if self.in_cc(W(s2 - 8 + 8*k)) and self.sane_ra(W(s2 - 8 + 8*k)):
                        tr.append('nmethod ra found +%d words' % k); s2 += 8*k; break
                else: return 'bad ra %#x in nmethod %s' % (ra, fr[-1]['name'])
            to(W(s2 - 8), s2, W(s2 - 16)); return None
        if b.name.startswith('vtable chunks') or b.name.startswith('InlineCacheBuffer') or b.name == 'I2C/C2I adapters' or b.kind in ('Vtable',) or (b.kind == 'Adapter'):
            fr.append(Frame(type='Stub', name=b.name))
            ad = b.kind == 'Adapter' or b.name.startswith('I2C')
            back = m.read(max(pc - 200, b.cb), pc - max(pc - 200, b.cb)) if ad and pc > b.cb else b''
            setr13 = any(x in back for x in (b'\x4c\x8d\x6c\x24\x08', b'\x4c\x8b\xec', b'\x49\x89\xe5'))   # r13 is stale before the adapter sets it
            r13 = R[13]; ext = ad and setr13 and sp + 8 <= r13 <= sp + 0x800 and r13 % 8 == 0   # c2i extends the caller's frame; r13 = unextended sender sp
            if ad and not leaf and r13 % 8 == 0 and sp <= r13 < sp + 0x2000 and self.sane_ra(W(r13)): tr.append('c2i fixup'); to(W(r13), r13 + 8, fp)   # call-site fix-up: state pushed, old sp kept in r13
            elif self.sane_ra(W(sp)): to(W(sp), r13 if ext else sp + 8, fp)
            elif self.sane_ra(R[0]): tr.append('adapter ra in rax'); to(R[0], r13 if ext else sp, fp)
            else: return 'bad adapter'
            return None
        # stubs
        f = Frame(type='Stub', name=b.name, off=pc - b.cb); fr.append(f)
        if b.fs > 0 and not b.name.startswith('StubRoutines'):
            s2 = sp + b.fs*8
            if leaf:
                # frame may not be set up
                if pc - b.cb < max(b.fc, 0) or not self.sane_ra(W(s2 - 8)):
                    if m.u8(pc) in (0x55, 0xc3) or pc == b.cb or not self.sane_ra(W(sp + 8)): f['via'] = 'ra'; to(W(sp), sp + 8, fp); return None
                    f['via'] = 'rbp+ra'; to(W(sp + 8), sp + 16, W(sp)); return None
            if not self.sane_ra(W(s2 - 8)): return 'bad ra in stub %s fs=%d' % (b.name, b.fs)
            to(W(s2 - 8), s2, W(s2 - 16)); return None
        # StubRoutines: call stub / leaf stubs
        if not leaf and pc == self.csra: f['name'] = 'call_stub'
        if b.name.startswith(('MethodHandles adapters', 'native signature handlers', 'jni_fast_')) and self.sane_ra(W(sp)):
            # no frame of their own, and rbp is the interpreted caller's: the rbp rule would lose that caller
            f['via'] = 'ra'; to(W(sp), sp + 8, fp); return None
        if leaf and pc != self.csra:
            # first instruction of a stub, between push rbp and mov rbp, rsp, or at its return: rbp is still, or again, somebody else's
            c = m.read(pc - 1, 5); at = c[1:5]
            if at in (b'\x55\x48\x8b\xec', b'\x55\x48\x89\xe5') or at[0] == 0xc3:
                if self.sane_ra(W(sp)): f['via'] = 'ra'; to(W(sp), sp + 8, fp); return None
            if c[0] == 0x55 and at[:3] in (b'\x48\x8b\xec', b'\x48\x89\xe5') and self.sane_ra(W(sp + 8)):
                f['via'] = 'rbp+ra'; to(W(sp + 8), sp + 16, W(sp)); return None
        if sp <= fp < sp + 0x2000 and fp % 8 == 0 and self.sane_ra(W(fp + 8)) and not (leaf and m.u8(pc) == 0xc3):
            f['via'] = 'fp'
            if not leaf and pc == self.csra:
                R[3], R[12], R[13], R[14], R[15] = (W(fp - 8*k) for k in (7, 8, 9, 10, 11))
            to(W(fp + 8), fp + 16, W(fp)); return None
        if self.sane_ra(W(sp)): f['via'] = 'ra'; to(W(sp), sp + 8, fp); return None
        for k in range(1, 64):
            if self.in_cc(W(sp + 8*k)) and self.sane_ra(W(sp + 8*k)): f['via'] = 'scan%d' % k; to(W(sp + 8*k), sp + 8*k + 8, fp); return None
        return 'bad stub ' + b.name
    def leaf_nm(self, R, b, r, pc, sp, fp, c, W):
        m = self.mem
        if pc - b.cb < b.fc or pc < b.cb:
            # scan forward from the verified entry: has push rbp / sub rsp run?
            if pc <= r['ve'] or pc - b.cb <= 0: return 'ra'
            pre = m.read(r['ve'], pc - r['ve'])
            i = pre.rfind(b'\x55')
            sub = max(pre.rfind(b'\x48\x81\xec'), pre.rfind(b'\x48\x83\xec'))
            if sub >= 0: return 'full'
            if i >= 0 and (i + 1 == len(pre) or pre[i+1:i+4] in (b'\x48\x8b\xec', b'\x48\x89\xe5')):
                return 'rbp+ra'
            return 'ra'
        if b.name == 'native nmethod' and (m.u8(pc - 1) == 0xc9 or (c[:2] == b'\x0f\x85' and c[6] == 0xc3)): return 'ra'   # after leave / jne of the exception check
        if c[0] == 0xc3: return 'ra'
        if c[0] == 0x5d and (self.sane_ra(W(sp + 8))) : return 'rbp+ra'
        prev = m.u8(pc - 1)
        if prev == 0x5d:
            # after pop rbp: return poll then ret (full byte patterns: 0x5d alone gives false positives in loops)
            if c[:3] == b'\x49\x3b\xa7' and c[7:9] == b'\x0f\x87': return 'ra'                       # JDK 17+: cmp rsp,[r15+d32]; ja
            if c[:3] == b'\x49\x3b\x67' and c[4:6] == b'\x0f\x87': return 'ra'                       # same, disp8
            if c[:3] == b'\x4d\x8b\x97' and c[7:11] == b'\x41\x85\x02\xc3': return 'ra'               # JDK 11
            if c[:2] == b'\x85\x05' and c[6] == 0xc3: return 'ra'                                     # JDK 8
        if c[:2] == b'\x0f\x87' and c[6] == 0xc3: return 'ra'
        if c[:3] == b'\x41\x85\x02' and c[3] == 0xc3: return 'ra'
        if c[:2] == b'\x85\x05' and c[6] == 0xc3: return 'ra'
        return 'full'
    def codelet(self, pc):
        for l, h, d in self.codelets:
            if l <= pc < h: return d
        return '?'
    def is_method(self, a):
        try:
            if a % 8 or a < 0x1000: return False
            v = self.v; m = self.mem; F = v.fields
            cm = m.u64(a + F['Method', '_constMethod'])
            if cm % 8 or cm < 0x1000: return False
            cp = m.u64(cm + F['ConstMethod', '_constants']); ik = m.u64(cp + F['ConstantPool', '_pool_holder'])
            return m.u64(ik + v.off('InstanceKlass', '_constants')) == cp or m.u64(cp + F['ConstantPool', '_pool_holder']) == ik and ik > 0x1000 and bool(self.method(a))
        except Exception: return False
    def step_interp(self, R, fr, leaf, b, tr):
        m = self.mem; pc, sp, fp = R[16], R[7], R[6]; W = lambda a: m.u64(a)
        cd = self.codelet(pc if leaf else pc - 1) if leaf else None
        bs = -8 if self.major >= 9 else -7
        if leaf:
            # epilogue of remove_activation: leave ; [..] ; pop r13 ; mov rsp,rbx ; [..] ; jmp r13
            win = m.read(pc - 24, 48); i = win.find(b'\x41\x5d\x48\x8b\xe3'); L = win.rfind(b'\xc9', 0, i if i >= 0 else 0)
            if i >= 0 and L >= 0 and i - L <= 12 and L + 1 <= 24 <= i + 20:
                popped = 24 > i
                ra, snd = (R[13] if popped else W(sp)), R[3]
                if self.sane_ra(ra):
                    me = W((snd if False else sp) - 0x20) if not popped else 0
                    tr.append('interp epilogue')
                    if self.is_method(me): fr.append(self.jframe('Interpreted', me, 0, via='epilogue', codelet=cd, bcpsrc='none'))
                    else: fr.append(Frame(type='Stub', name='interpreter epilogue', codelet=cd, bcpsrc='none'))
                    R[16], R[7] = ra, snd; return None
            if sp <= fp < sp + 72 and self.sane_ra(W(fp + 8)) and self.is_method(R[3]):
                # fewer than the 9 fixed slots below rbp: frame of the callee (rbx) still being built
                fr.append(self.jframe('Interpreted', R[3], 0, via='entry-part', codelet=cd, bcpsrc='none'))
                R[16], R[7], R[6] = W(fp + 8), (W(fp - 8) if fp >= sp + 8 else R[13]), W(fp); return None
        if leaf and cd and cd.startswith('method entry point'):
            rbx = R[3]
            if self.is_method(rbx) and not (sp <= fp < sp + 0x2000 and W(fp - 24) == rbx and (W(fp - 8) == R[13] or fp - sp < 0x100)):
                fr.append(self.jframe('Interpreted', rbx, 0, via='entry', codelet=cd, bcpsrc='none')); tr.append('interp entry')
                if self.sane_ra(W(sp)): R[16], R[7] = W(sp), R[13]; return None
                if W(sp) == fp and self.sane_ra(W(sp + 8)): R[16], R[7], R[6] = W(sp + 8), R[13], W(sp); fr[-1]['via'] = 'entry-rbp'; return None
                if self.sane_ra(R[0]): R[16], R[7] = R[0], R[13]; fr[-1]['via'] = 'entry-rax'; return None
                return 'bad interp entry'
        if not (sp <= fp + 0x100 and fp - sp < 0x10000): return 'fp not an interpreter frame fp=%#x sp=%#x %s' % (fp, sp, cd)
        me = W(fp - 24)
        if not self.is_method(me): return 'bad Method* %#x in interpreter frame (%s)' % (me, cd)
        mi = self.method(me); lo, hi = mi['code'], mi['code'] + mi['csize']
        bcp = W(fp + 8*bs); src = 'slot'
        if leaf and lo <= R[13] < hi: bcp = R[13]; src = 'r13'
        bci = bcp - lo if lo <= bcp < hi else (0 if not mi['native'] else -1)
        kw = dict(bcpsrc=src)
        if leaf: kw['codelet'] = cd
        if not (lo <= bcp < hi) and not mi['native']: kw['badbcp'] = hex(bcp)
        fr.append(self.jframe('Interpreted', me, bci, **kw))
        R[16] = W(fp + 8); R[7] = W(fp - 8); R[6] = W(fp)
        return None

def main():
    ap = argparse.ArgumentParser(); ap.add_argument('pid', type=int); ap.add_argument('--json', action='store_true')
    ap.add_argument('--java-only', action='store_true'); ap.add_argument('--tid', type=int)
    a = ap.parse_args()
    regs = stop_all(a.pid)
    t0 = time.time()
    try:
        j = JVM(a.pid); out = []
        for tid, r in sorted(regs.items()):
            if r is None or (a.tid and tid != a.tid): continue
            try: name = open('/proc/%d/task/%d/comm' % (a.pid, tid)).read().strip()
            except OSError: name = '?'
            fr, note = j.walk(r)
            out.append(dict(tid=tid, name=name, java=tid in j.threads, frames=fr, note=note, trace=list(j.tr), insys=r['orig_rax'] != M64))
    finally: release(regs)
    if a.json: json.dump(dict(release=j.release, major=j.major, threads=out), sys.stdout); print(); return
    print('# %s' % j.release)
    for t in out:
        if a.java_only and not t['java']: continue
        print('\ntid %d "%s"%s%s' % (t['tid'], t['name'], ' java' if t['java'] else '', '  !! ' + t['note'] if t['note'] else ''))
        for x in t['trace']: print('    ~ ' + x)
        for f in t['frames']:
            if 'cls' in f: print('   %-11s %s.%s%s bci=%d line=%d%s' % (f['type'], f['cls'].replace('/', '.'), f['name'], f['sig'], f['bci'], f['line'], ''.join(' %s=%s' % (k, f[k]) for k in ('via', 'codelet', 'badbcp', 'bcpsrc', 'exact') if k in f)))
            elif f['type'] == 'Native': print('   %-11s %s+%#x (%s)%s' % ('Native', f['name'], f['off'], f['lib'], ' sig' if f.get('sig') else ''))
            else: print('   %-11s %s %s' % (f['type'], f['name'], f.get('via', '')))
if __name__ == '__main__': main()
