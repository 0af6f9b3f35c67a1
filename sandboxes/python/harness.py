"""Veriplay's harness inside the guest: fetches a job, runs it, says what came out. It holds no judging code.

Run once, in `__main__`, before the snapshot; after `_veriplay_start()` each turn of the interpreter is a job. Every job
starts from the same snapshot, so nothing a program does to this module outlives the program. The host believes nothing
that is said here beyond "this is what the program returned".

A program is compiled in a turn of its own, before the turn that runs it. No code of a program has run behind the first, so
the state there is the same for all jobs with that program, and the host may keep it.

Frames to the host (`_host.call`): b"J" fetch what is next | b"V" + encoded value of the next call | b"X" + error of the next
call | b"U" + why the next call's value has no encoding | b"O" a value larger than the job allows | b"R" + error of the
program itself | b"C" + why the program does not compile | b"M" + which entry it lacks | b"D" done | b"Q" + encoded request
to the job's callee, answered by b"V", b"X" or b"U". An error is one length byte, the name of its class, the message; b"U",
b"C" and b"M" carry text alone. The value encoding is that of crates/core/src/value/codec.rs. b"q" and b"v" stand for b"Q" and b"V" with a value
in the format of `marshal`, which C code reads and writes. The host reads and writes anew what goes from one guest to another. It gives the
arguments of a call in that format where the result may come in it, too.

A callee is the program of another instance. Where the two sides share their objects, its code is told before it runs. After its module
level has run, each job call answers one request of the other side: ("call", name, arguments, keywords), which crosses by copies, or, where the two share their objects, one of
objects.py's, ("share", …).
"""


def _veriplay_harness():
    import _host
    import atexit
    import builtins
    import collections
    import datetime
    import decimal
    import fractions
    import gc
    import io
    import linecache
    import marshal
    import os
    import random
    import struct
    import sys
    import traceback
    import types

    # Kept here, so that a program which patches a module or a builtin changes its own answers only.
    host, exec_, compile_, bytes_, len_, sorted_, set_ = _host.call, exec, compile, bytes, len, sorted, set
    type_, str_, int_, float_, bool_, list_, tuple_ = type, str, int, float, bool, list, tuple
    dict_, frozenset_, bytearray_, callable_, getattr_ = dict, frozenset, bytearray, callable, getattr
    base_exception, system_exit, module_type = BaseException, SystemExit, types.ModuleType
    u32, u32_at, f64, f64_at = (
        struct.Struct("<I").pack, struct.Struct("<I").unpack_from, struct.Struct("<d").pack, struct.Struct("<d").unpack_from,
    )
    dumps, loads, no_references = marshal.dumps, marshal.loads, 2  # a version of the format
    map_, sum_, min_, max_, values_of = map, sum, min, max, dict.values
    # Classes by `id`: a set would ask a class of the program's for its hash.
    id_of_kinds = lambda *kinds: frozenset([id(kind) for kind in kinds])
    of_numbers, of_text, of_keys = id_of_kinds(bool, int, float), id_of_kinds(str), id_of_kinds(bool, bytes, int, str, type(None))
    of_files = id_of_kinds(io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)
    next_, id_, mro_of = next, id, type.__dict__["__mro__"].__get__
    is_exception = lambda found: isinstance(found, type) and issubclass(found, BaseException)
    exceptions = {id(found): found.__name__ for found in vars(builtins).values() if is_exception(found)}
    reserved = frozenset(exceptions.values())
    given_name, exact_text = type.__dict__["__name__"].__get__, str.__str__
    # A program may name a class by an object of a subclass of `str`, whose methods are its own: they are not called.
    name_of, from_bytes, modules = (lambda kind: exact_text(given_name(kind))), int.from_bytes, sys.modules
    stdout, stderr, seed_random, format_exception = sys.stdout, sys.stderr, random.seed, traceback.format_exception
    max_depth = 64
    nan = struct.pack("<Q", 0x7FF8000000000000)

    class Unencodable(Exception):
        """The value has no encoding."""

    class TooLarge(Exception):
        """The encoding outgrew the job's cap, which ends the job."""

    def put(value, out, depth, cap):
        """Appends the encoding of `value`, of exact built-in types only: type() cannot be lied to."""
        kind = type_(value)
        if depth > max_depth:
            raise Unencodable("nested too deep")
        if len_(out) > cap:
            raise TooLarge
        if kind is int_:
            size = (value if value >= 0 else ~value).bit_length() // 8 + 1 if value else 0
            if size > cap:
                raise TooLarge
            out += b"i" + u32(size) + value.to_bytes(size, "little", signed=True)
        elif kind is str_:
            try:
                data = value.encode()
            except UnicodeEncodeError:
                raise Unencodable("str with a lone surrogate") from None
            out += b"s" + u32(len_(data))
            out += data
        elif kind is list_ or kind is tuple_:
            out += (b"l" if kind is list_ else b"t") + u32(len_(value))
            depth += 1
            for item in value:
                put(item, out, depth, cap)
        elif kind is bool_:
            out += b"T" if value else b"F"
        elif value is None:
            out += b"N"
        elif kind is float_:
            out += b"f" + (f64(value) if value == value else nan)
        elif kind is dict_:
            put_dict(value, out, depth + 1, cap)
        elif kind is set_ or kind is frozenset_:
            put_set(value, out, depth + 1, cap, b"S" if kind is set_ else b"Z")
        elif kind is bytes_:
            out += b"b" + u32(len_(value))
            out += value
        else:
            put_object(value, kind, out, depth + 1, cap)

    def put_object(value, kind, out, depth, cap):
        """Tag, code and state of an object of a known class, as the table in crates/core/src/value/object.rs has them."""
        tag, state_of = states.get(id_(kind)) or numpy_state(kind)
        out += tag
        state = state_of(value)
        if type_(state) is Pairs:
            if depth > max_depth:
                raise Unencodable("nested too deep")
            put_pairs(state.pairs, out, depth + 1, cap)
        else:
            put(state, out, depth, cap)

    class Pairs:
        """The pairs of a dict of some kind, in its order."""

        def __init__(self, pairs):
            self.pairs = pairs

    # State is read through C slots and methods kept here: a program may patch a class that is written in Python.
    slot = lambda owner, name: owner.__dict__[name].__get__
    fields = lambda owner, *names: tuple([slot(owner, name) for name in names])
    read = lambda slots, value: tuple_([field(value) for field in slots])
    complex_, counter, ordered_dict, default_dict = complex, collections.Counter, collections.OrderedDict, collections.defaultdict
    deque, decimal_, fraction, date, time = collections.deque, decimal.Decimal, fractions.Fraction, datetime.date, datetime.time
    date_time, time_delta, time_zone, utc = datetime.datetime, datetime.timedelta, datetime.timezone, datetime.timezone.utc
    dict_items, ordered_items, new_dict = dict.items, ordered_dict.items, dict.__new__
    update_dict, copy_dict = dict.update, dict.copy
    complex_fields, range_fields = fields(complex, "real", "imag"), fields(range, "start", "stop", "step")
    decimal_fields, fraction_fields = fields(decimal_, "_sign", "_int", "_exp"), fields(fraction, "_numerator", "_denominator")
    date_fields, factory_of, max_length = fields(date, "year", "month", "day"), slot(default_dict, "default_factory"), slot(deque, "maxlen")
    clock = "hour", "minute", "second", "microsecond", "fold", "tzinfo"
    time_fields, date_time_fields = fields(time, *clock), (*date_fields, *fields(date_time, *clock))
    delta_fields, zone_arguments = fields(time_delta, "days", "seconds", "microseconds"), time_zone.__getinitargs__
    max_part_bits = 2048
    factories = {
        id(found): found
        for found in (bool, bytearray, bytes, complex, dict, float, frozenset, int, list, object, set, str, tuple)
    }
    factory_named = {found.__name__: found for found in factories.values()}

    def parts_state(slots):
        def state(value):
            parts = read(slots, value)
            for part in parts:
                if type_(part) is not int_ or part.bit_length() > max_part_bits:
                    raise Unencodable("a range or fraction of a part too large, or of another type")
            return parts

        return state

    def decimal_state(value):
        sign, digits, exponent = read(decimal_fields, value)
        if type_(exponent) is int_ and type_(digits) is str_:
            text = digits + "E" + str_(exponent)
        elif type_(exponent) is str_ and type_(digits) is str_:
            text = "Infinity" if exponent == "F" else ("sNaN" if exponent == "N" else "NaN") + digits
        else:
            raise Unencodable("a Decimal of parts of other types")
        return "-" + text if type_(sign) is int_ and sign == 1 else text

    def default_dict_state(value):
        factory = factory_of(value)
        if id_(factory) in factories:
            name = name_of(factory)
        elif factory is None or is_for_host:
            # A host compares the items, as Python does.
            name = None
        else:
            raise Unencodable("a defaultdict whose factory is neither None nor a built-in type")
        # What has the type `dict` is put as one.
        return name, copy_dict(value)

    def zone_state(value):
        arguments = zone_arguments(value)
        if len_(arguments) != 1:
            raise Unencodable("a timezone with a name")
        days, seconds, micros = read(delta_fields, arguments[0])
        return (days * 86400 + seconds) * 1000000 + micros

    states = {
        id(complex_): (b"oc", lambda value: read(complex_fields, value)),
        id(range): (b"or", parts_state(range_fields)),
        id(bytearray): (b"oa", lambda value: bytes_(value)),
        id(counter): (b"oC", lambda value: Pairs(list_(dict_items(value)))),
        id(default_dict): (b"oD", default_dict_state),
        id(ordered_dict): (b"oO", lambda value: Pairs(list_(ordered_items(value)))),
        id(deque): (b"oq", lambda value: (list_(value), max_length(value))),
        id(decimal_): (b"ox", decimal_state),
        id(fraction): (b"o/", parts_state(fraction_fields)),
        id(date): (b"oy", lambda value: read(date_fields, value)),
        id(time): (b"oh", lambda value: read(time_fields, value)),
        id(date_time): (b"ot", lambda value: read(date_time_fields, value)),
        id(time_delta): (b"oe", lambda value: read(delta_fields, value)),
        id(time_zone): (b"oz", zone_state),
    }
    numpy_codes = {
        "bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I",
        "uint64": "Q", "float16": "e", "float32": "f", "float64": "d", "complex64": "F", "complex128": "D",
    }
    numpy_names = {ord(code): "bool_" if name == "bool" else name for name, code in numpy_codes.items()}
    # Other C types of the same numbers.
    numpy_codes |= {"bool_": "?", "intc": "i", "uintc": "I", "long": "i", "ulong": "I", "longlong": "q", "ulonglong": "Q"}
    numpy_readers = {"?": lambda value: bool_(value)}
    numpy_readers |= {code: lambda value: int_(value) for code in "bhiqBHIQ"} | {code: lambda value: float_(value) for code in "efd"}
    numpy_readers |= {code: lambda value: read(complex_fields, complex_(value)) for code in "FD"}
    flags_of, module_of, heap_type = slot(type, "__flags__"), slot(type, "__module__"), 1 << 9

    def numpy_state(kind):
        """A type that no Python code made, of the module numpy: that cannot be forged, and numpy need not be imported here."""
        code = None if flags_of(kind) & heap_type or module_of(kind) != "numpy" else numpy_codes.get(name_of(kind))
        if code is None:
            raise Unencodable("a value of type " + name_of(kind))
        return b"n" + code.encode(), numpy_readers[code]

    def numpy_scalar(code, state):
        numpy = modules.get("numpy") or import_("numpy")
        return getattr_(numpy, numpy_names[code])(complex_(*state) if type_(state) is tuple_ else state)

    def new_counter(state):
        made = new_dict(counter)
        update_dict(made, state)
        return made

    import_ = __import__
    makers = {
        b"c"[0]: lambda state: complex_(*state),
        b"r"[0]: lambda state: range_(*state),
        b"a"[0]: lambda state: bytearray_(state),
        b"C"[0]: new_counter,
        b"D"[0]: lambda state: default_dict(state[0] and factory_named[state[0]], state[1]),
        b"O"[0]: lambda state: ordered_dict(state),
        b"q"[0]: lambda state: deque(*state),
        b"x"[0]: lambda state: decimal_(state),
        b"/"[0]: lambda state: fraction(*state),
        b"y"[0]: lambda state: date(*state),
        b"h"[0]: lambda state: time(*state[:4], state[5], fold=state[4]),
        b"t"[0]: lambda state: date_time(*state[:7], state[8], fold=state[7]),
        b"e"[0]: lambda state: time_delta(*state),
        b"z"[0]: lambda state: time_zone(time_delta(microseconds=state)) if state else utc,
    }

    def take_object(tag, data, at):
        code = data[at]
        state, at = take(data, at + 1)
        try:
            return numpy_scalar(code, state) if tag == 110 else makers[code](state), at
        except base_exception:
            # The program broke the class. It gets the state instead, which harms only itself.
            return state, at

    def put_dict(value, out, depth, cap):
        put_pairs(value.items(), out, depth, cap)

    def put_pairs(pairs, out, depth, cap):
        out += b"d" + u32(len_(pairs))
        keys = set_()
        for key, item in pairs:
            encoded = bytearray_()
            put(key, encoded, depth, cap)
            keys.add(bytes_(encoded))
            out += encoded
            put(item, out, depth, cap)
        if len_(keys) != len_(pairs):
            raise Unencodable("dict with two keys of one encoding")

    def put_set(value, out, depth, cap, tag):
        items, size = set_(), len_(out)
        for item in value:
            encoded = bytearray_()
            put(item, encoded, depth, cap)
            items.add(bytes_(encoded))
            size += len_(encoded)
            if size > cap:
                raise TooLarge
        if len_(items) != len_(value):
            raise Unencodable("set with two items of one encoding")
        out += tag + u32(len_(items))
        for item in sorted_(items):
            out += item

    def take(data, at):
        """Reads one value of the host's; returns it and the offset behind it."""
        tag = data[at]
        at += 1
        if tag == 78:
            return None, at
        if tag == 84:
            return True, at
        if tag == 70:
            return False, at
        if tag == 102:
            return f64_at(data, at)[0], at + 8
        if tag == 111 or tag == 110:
            return take_object(tag, data, at)
        size, = u32_at(data, at)
        at += 4
        if tag == 105:
            return from_bytes(data[at : at + size], "little", signed=True), at + size
        if tag == 115:
            return data[at : at + size].decode(), at + size
        if tag == 98:
            return data[at : at + size], at + size
        items = []
        for _ in range_(size * 2 if tag == 100 else size):
            item, at = take(data, at)
            items.append(item)
        if tag == 108:
            return items, at
        if tag == 116:
            return tuple_(items), at
        if tag == 83:
            return set_(items), at
        if tag == 90:
            return frozenset_(items), at
        return dict_(zip_(items[::2], items[1::2])), at

    range_, zip_, enumerate_ = range, zip, enumerate

    def text_at(data, at):
        size, = u32_at(data, at)
        at += 4
        return data[at : at + size].decode(), at + size

    def message_of(error):
        """str(error) is the program's code: it may raise, or return anything."""
        try:
            text = str_(error)
            return text.encode("utf-8", "backslashreplace")[:400].decode("utf-8", "ignore") if type_(text) is str_ else ""
        except base_exception:
            return ""

    def error_frame(tag, kind, message):
        kind = cut(kind, 100)
        return tag + bytes_((len_(kind),)) + kind + cut(message, 400)

    def cut(text, most):
        return text.encode("utf-8", "backslashreplace")[:most].decode("utf-8", "ignore").encode()

    def raised(tag, error):
        host(error_frame(tag, name_of(type_(error)), message_of(error)))

    def show(error, source):
        """The traceback, for people. The frame has been sent: whatever goes wrong here changes nothing."""
        try:
            if type_(error) is system_exit:
                # As in CPython: a number is the status, and anything else is printed.
                if type_(error.code) is not int_ and error.code is not None:
                    stderr.write(str_(error.code)[:4000] + "\n")
                return
            linecache.cache["<program>"] = (len_(source), None, source.splitlines(True), "<program>")
            tb = error.__traceback__
            lines = format_exception(type_(error), error, tb and tb.tb_next, limit=-24)
            stderr.write("".join(lines)[-4000:])
        except base_exception:
            pass

    def compiled(source):
        try:
            # A file may begin with a mark of its byte order.
            text = source[1:] if source[:1] == "\ufeff" else source
            if "maxsize" in text or "bisect" in text or "random" in text or "MemoryError" in text:
                return tools.compile_program(text, "<program>")
            return compile_(text, "<program>", "exec", 0, True)
        except base_exception as error:
            host(b"C" + cut(name_of(type_(error)) + ": " + message_of(error), 400))
            error.__traceback__ = None
            show(error, source)
            return None

    def run_module(code, name, source):
        """Runs module-level code; returns its namespace, or None when it raised."""
        module = modules[name] = module_type(name)
        names = module.__dict__
        names["__file__"], names["__builtins__"] = "<program>", builtins
        try:
            exec_(code, names)
            return names
        except base_exception as error:
            if name == "__main__" and type_(error) is system_exit:
                code = error.code
                if code is None or ((type_(code) is int_ or type_(code) is bool_) and code == 0):
                    return names
                if type_(code) is not int_ and type_(code) is not bool_:
                    # Quoted, so that what is no number does not read as one.
                    host(error_frame(b"R", "SystemExit", "'" + message_of(error) + "'"))
                    return show(error, source)
            raised(b"R", error)
            show(error, source)
            return None

    def entry_of(names, entry):
        """The function of that name, or the method `Class.method` of an instance made here, which may raise anything."""
        owner, dot, method = entry.partition(".")
        found = names.get(owner)
        return getattr_(found(), method, None) if dot and found is not None else found

    def call_entry(names, data, at):
        entry, at = text_at(data, at)
        try:
            function = entry_of(names, entry)
        except base_exception as error:
            return raised(b"R", error)
        if callable_(function):
            call_all(function, data, at)
        else:
            host(b"M" + cut("`" + entry + "` is not defined, or not callable", 400))

    def call_all(function, data, at):
        count, = u32_at(data, at)
        at += 4
        for _ in range_(count):
            is_marshalled = data[at] == 109
            if is_marshalled:
                size, = u32_at(data, at + 1)
                at += 5
                arguments, at = data[at : at + size], at + size
            else:
                arguments, at = take(data, at)
            host(call_frame(function, arguments, is_marshalled))

    is_heard = True

    def unheard(crossing, *values):
        """Calls a function of `marshal`, which tells hooks of audits of it. How values cross is not the program's business."""
        nonlocal is_heard
        is_heard = False
        try:
            return crossing(*values)
        finally:
            is_heard = True

    add_hook = sys.addaudithook

    def addaudithook(hook):
        """Adds a hook that hears all but how the harness makes values cross."""
        add_hook(lambda event, arguments: hook(event, arguments) if is_heard else None)

    def call_frame(function, arguments, is_marshalled):
        try:
            # A hook of audits that hides itself may raise.
            value = function(*(unheard(loads, arguments) if is_marshalled else arguments))
        except base_exception as error:
            return error_frame(b"X", name_of(type_(error)), message_of(error))
        return (marshalled_value(value) if is_marshalled else None) or value_frame_for_host(value)

    no_bytes, largest = 1 << 60, 1 << 62

    def most_bytes(value, kind, depth):
        """At least as many as `marshal` and `put` take for a value that both write alike; `no_bytes` for one that `put` must look at: it is of a
        class that `marshal` does not have or takes for bytes, or may be refused. Items that are numbers alone or texts alone are looked at by C
        code, where `put` takes Python code for each."""
        if depth > 16:
            return no_bytes
        if kind is list_ or kind is tuple_:
            size = 16 * len_(value) + 10
            if size > cap_of_job:
                return no_bytes
            kinds = set_(map_(id_, map_(type_, value)))
            if kinds <= of_numbers:
                return size if not value or (-largest < min_(value) and max_(value) < largest) else no_bytes
            if kinds == of_text:
                return size + 4 * sum_(map_(len_, value))
            for item in value:
                size += most_bytes(item, type_(item), depth + 1)
                if size > cap_of_job:
                    return no_bytes
            return size
        if kind is int_:
            return 16 if -largest < value < largest else no_bytes
        if kind is str_:
            return 4 * len_(value) + 5
        if kind is bool_ or kind is float_ or value is None:
            return 9
        if kind is dict_:
            # Keys of other types may be two of one encoding.
            if len_(value) > cap_of_job or not set_(map_(id_, map_(type_, value))) <= of_keys:
                return no_bytes
            parts = list_(value), list_(values_of(value))
            return most_bytes(parts[0], list_, depth + 1) + most_bytes(parts[1], list_, depth + 1)
        return len_(value) + 5 if kind is bytes_ else no_bytes

    def marshalled_value(value):
        """The frame with a result in the format of `marshal`, where that says all that there is to say of it."""
        try:
            if most_bytes(value, type_(value), 0) > cap_of_job:
                return None
            frame = b"v" + unheard(dumps, value, no_references)
        except base_exception:
            # Out of memory or of stack, for one.
            return None
        # Lone surrogates are encoded with this byte, as are other things.
        return None if 237 in frame else frame

    def value_frame(value):
        out = bytearray_(b"V")
        try:
            put(value, out, 0, cap_of_job)
        except TooLarge:
            return b"O"
        except Unencodable as error:
            return b"U" + cut(str_(error), 400)
        except base_exception as error:
            return b"U" + cut("encoding it raised " + name_of(type_(error)), 400)
        return bytes_(out)

    # Whether what is encoded is for the host alone, which never calls it.
    is_for_host = False

    def value_frame_for_host(value):
        nonlocal is_for_host
        is_for_host = True
        try:
            return value_frame(value)
        finally:
            is_for_host = False

    def marshalled(tag, message):
        """The frame with a message in the format of `marshal`; None where that has none for what is in it, or it is too large. The
        message holds nothing that `marshal` would take for bytes."""
        try:
            frame = tag + dumps(message, no_references)
        except base_exception:
            return None
        return frame if len_(frame) <= cap_of_job else None

    def ask_callee(request, is_rare=True):
        """The value that the callee answers. Raises `CalleeError` with what it raised. A request is rare that may hold what is of no built-in
        type."""
        frame = None if is_rare else marshalled(b"q", request)
        if frame is None:
            out = bytearray_(b"Q")
            try:
                put(request, out, 0, cap_of_job)
            except Unencodable as error:
                raise TypeError("only plain values cross: " + str_(error)) from None
            except TooLarge:
                raise ValueError("what crosses is larger than the job's output_bytes") from None
            frame = bytes_(out)
        reply = host(frame)
        if reply[0] == 118:
            return loads(reply[1:])
        if reply[0] == 86:
            return take(reply, 1)[0]
        if reply[0] == 85:
            raise TypeError("only plain values cross: " + reply[1:].decode())
        at = 2 + reply[1]
        raise CalleeError(reply[2:at].decode(), reply[at:].decode())

    class CalleeError(Exception):
        """`args` are the class and the message of what the callee raised."""

    def is_plain(value):
        """Whether it can be sent as it is."""
        try:
            put(value, bytearray_(), 0, cap_of_job)
        except Unencodable:
            return False
        return True

    def code_frame(code):
        """The frame with what a program was compiled to, which has not run."""
        try:
            data = dumps(code)
        except base_exception as error:
            return b"U" + cut(message_of(error), 400)
        # Behind the tag and the length of a value of bytes.
        return b"Vb" + u32(len_(data)) + data if len_(data) + 5 <= cap_of_job else b"U" + b"larger than output_bytes"

    def answer_call(request):
        """The frame that answers one request of the other side."""
        if request[0] == "share":
            answer = shared.answer(request)
            return (None if shared.is_rare or shared.is_audited else marshalled(b"v", answer)) or value_frame(answer)
        name = request[1]
        found = served.get(name)
        if found is None and name not in served:
            return error_frame(b"X", "NameError", "`" + name + "` is not defined")
        try:
            value = found(*request[2], **request[3])
        except base_exception as error:
            return error_frame(b"X", kind_of(type_(error)), message_of(error))
        return value_frame(value)

    def kind_of(error):
        """The nearest built-in type, whose name means the same to the other side: a class of the program's own that is
        merely called ValueError is none. Below `Exception` itself its own name says more, and is nobody else's."""
        near = next_(exceptions[id_(base)] for base in mro_of(error) if id_(base) in exceptions)
        own = name_of(error)
        return near if own in reserved or near not in ("Exception", "BaseException") else own

    def flush():
        for stream in (sys.stdout, stdout, stderr):
            try:
                stream.flush()
            except base_exception:
                pass

    def flush_files(names):
        """Writes what a script has left unwritten in the files of its global names, which CPython closes at its end."""
        # By C code alone, for most scripts have none.
        if of_files.isdisjoint(map_(id_, map_(type_, values_of(names)))):
            return
        for value in list_(values_of(names)):
            if id_(type_(value)) in of_files:
                try:
                    value.flush()
                except base_exception:
                    pass

    cap_of_job = 0
    program = served = shared = None
    exit_functions = atexit._ncallbacks()

    def run_exit_functions():
        try:
            if atexit._ncallbacks() > exit_functions:
                atexit._run_exitfuncs()
        except base_exception:
            pass

    def serve():
        request = host(b"J")
        # A tuple of `marshal`'s, or one of ours.
        host(answer_call(loads(request) if request[0] == 40 else take(request, 0)[0]))
        flush()
        host(b"D")

    def job():
        nonlocal cap_of_job, program, served, shared
        if served is not None:
            serve()
            return
        data = host(b"J")
        if data[0] == 75:
            source = data[1:].decode()
            code = compiled(source)
            program = code, source
            if code is None:
                flush()
            host(b"D")
            return
        script = data[0] == 83
        if data[0] == 77:
            sys.addaudithook = addaudithook
        seed_random(from_bytes(data[1:9], "little"))
        cap_of_job, = u32_at(data, 9)
        (code, source), program, at = program, None, 13
        callee = modules["_veriplay_objects"].Callee(source) if data[0] == 79 else None
        if callee is not None:
            host(code_frame(code))
        # One whose objects are shared has the name by which the tests import it.
        names = run_module(code, "__main__" if script else "program" if callee is None else "solution", source)
        if names is not None and data[0] in (80, 79):
            served = names
            shared = callee
            if callee is not None:
                callee.names = names
        elif names is not None and data[0] in (87, 76):
            if data[0] == 76:
                call_entry(names, data, at)
            # What is there now is alive in every job that starts from here.
            del modules["program"], names, code, source
            gc.collect()
            gc.freeze()
        elif names is not None and not script:
            call_entry(names, data, at)
        if script:
            for finish in before_end:
                error = finish()
                if error is not None:
                    if names is not None:
                        names = raised(b"R", error)
                    show(error, source)
            run_exit_functions()
            if names is not None:
                flush_files(names)
        flush()
        if served is not None or data[0] in (87, 76):
            host(b"D")
            return
        sys.addaudithook = add_hook  # the jobs before the snapshot leave it as it was
        sys.stdout = sys.stderr = None  # the interpreter flushes them once more, and a program's own stream could fail there
        host(b"D")

    def warm_up():
        """Runs each path once, so that its code objects are specialised and its lazy imports done before the snapshot."""
        source = "import math\nclass C:\n    def m(self): return [i * 2 for i in range(9)]\ndef f(x): return {'a': C().m(), 1: (x, 1.5)}\n"
        values = [None, True, False, -129, 1.5, "é", b"x", [1], (2,), {3}, frozenset((4,)), {"k": 1}]
        values += [1j, range(3), counter("a"), default_dict(int), ordered_dict(a=1), deque(), decimal_("1.5"), fraction(1, 3)]
        for _ in range(40):
            names = run_module(compiled(source), "program", source)
            call_frame(names["f"], [values], False)
            for part in [1, 2], ["a", "é"], {"k": [1.5, None]}, (1, "a", [True]), 7, "é":
                call_frame(lambda x: x, dumps([part], no_references), True)
            out = bytearray()
            put(values, out, 0, 1 << 20)
            take(bytes(out), 0)
        try:
            exec_(compile_("def f(n):\n    return 1 / n\nf(0)", "<program>", "exec"), {})
        except ZeroDivisionError as error:
            "".join(traceback.format_exception(error))
        del modules["program"]

    cap_of_job = 1 << 20
    warm_up()
    tools = modules["_veriplay"] = module_type("_veriplay")
    tools.ask_callee, tools.CalleeError, tools.is_plain, tools.message_of = ask_callee, CalleeError, is_plain, message_of
    # Functions that end what a script has begun; each returns the error by which the script ends, or None.
    tools.before_end = before_end = []
    sys.set_int_max_str_digits(0)
    random.seed(0)
    sys.argv = ["<program>"]
    os.chdir("/work")
    gc.collect()
    return job


_veriplay_job = _veriplay_harness()
del _veriplay_harness


def _veriplay_alive():
    """Writes down where the objects are that are there, for the host: the address of each and of its type, in four bytes each."""
    import gc
    import os
    import struct

    code = type(_veriplay_alive.__code__)
    parts = "co_consts", "co_names", "co_filename", "co_name", "co_qualname", "co_linetable", "co_exceptiontable"
    known, found = {}, gc.get_objects()
    while found:
        new = [part for part in found if id(part) not in known]
        known.update((id(part), id(type(part))) for part in new)
        # The collector is not told of what code refers to.
        of_code = [getattr(part, name) for part in new if type(part) is code for name in parts]
        found = gc.get_referents(*new) + of_code
    file = os.open("alive", os.O_CREAT | os.O_WRONLY)
    for pair in known.items():
        os.write(file, struct.pack("<II", *pair))
    os.close(file)


def _veriplay_start():
    """From here on a turn is a job. The reactor's own `turn` would parse, compile and evaluate a source text first."""
    import sys

    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
    turn = frame.f_globals["turn"]
    turn.__globals__["_veriplay_job"] = _veriplay_job
    turn.__code__ = (lambda source, environ: (_veriplay_job(), (0, False))[1]).__code__
    names = globals()
    for name in "_veriplay_start", "_veriplay_alive", "_veriplay_job":
        del names[name]
    sys.modules["_veriplay_objects"].Image.note()
