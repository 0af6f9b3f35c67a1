// `std::cin` and its like over the C library's streams, in the place of libc++'s own, whose archive holds them unoptimised. What a program reads
// and prints through both is in one order, whatever it says by `sync_with_stdio`: nothing is kept here, but in the C library's buffers.
#include <cstdio>
#include <cwchar>
#include <istream>
#include <new>
#include <ostream>
#include <streambuf>

template <class C>
struct Stdio;

template <>
struct Stdio<char> {
    static int get(FILE* file) { return getc(file); }
    static int put(char c, FILE* file) { return putc(c, file); }
    static int put_back(int c, FILE* file) { return ungetc(c, file); }
};

template <>
struct Stdio<wchar_t> {
    static wint_t get(FILE* file) { return getwc(file); }
    static wint_t put(wchar_t c, FILE* file) { return putwc(c, file); }
    static wint_t put_back(wint_t c, FILE* file) { return ungetwc(c, file); }
};

template <class C>
class StdioBuffer final : public std::basic_streambuf<C> {
    using Traits = std::char_traits<C>;
    using Value = typename Traits::int_type;

    FILE* file;
    // What was read last, to be put back; the end of the file where there is nothing.
    Value last = Traits::eof();

public:
    explicit StdioBuffer(FILE* file) : file(file) {}

protected:
    Value underflow() override {
        return Stdio<C>::put_back(Stdio<C>::get(file), file);
    }

    Value uflow() override {
        return last = Stdio<C>::get(file);
    }

    std::streamsize xsgetn(C* to, std::streamsize count) override {
        if constexpr (sizeof(C) > 1) {
            return std::basic_streambuf<C>::xsgetn(to, count);
        } else {
            std::streamsize read = fread(to, 1, count, file);
            if (read > 0) last = Traits::to_int_type(to[read - 1]);
            return read;
        }
    }

    Value pbackfail(Value c) override {
        Value back = Traits::eq_int_type(c, Traits::eof()) ? last : c;
        last = Traits::eof();
        return Stdio<C>::put_back(back, file);
    }

    Value overflow(Value c) override {
        return Traits::eq_int_type(c, Traits::eof()) ? Traits::not_eof(c) : Stdio<C>::put(Traits::to_char_type(c), file);
    }

    std::streamsize xsputn(const C* from, std::streamsize count) override {
        if constexpr (sizeof(C) > 1) {
            return std::basic_streambuf<C>::xsputn(from, count);
        } else {
            return fwrite(from, 1, count, file);
        }
    }

    int sync() override {
        return fflush(file) ? -1 : 0;
    }
};

_LIBCPP_BEGIN_NAMESPACE_STD

// Places for the objects, which are made before any constructor of a program and never destroyed.
#define PLACE(type, name) alignas(type) char name[sizeof(type)];
PLACE(istream, cin)
PLACE(ostream, cout)
PLACE(ostream, cerr)
PLACE(ostream, clog)
PLACE(wistream, wcin)
PLACE(wostream, wcout)
PLACE(wostream, wcerr)
PLACE(wostream, wclog)

template <class C>
void make_streams(char* in, char* out, char* err, char* log) {
    using Buffer = StdioBuffer<C>;
    alignas(Buffer) static char places[3][sizeof(Buffer)];
    auto* input = new (in) basic_istream<C>(new (places[0]) Buffer(stdin));
    auto* output = new (out) basic_ostream<C>(new (places[1]) Buffer(stdout));
    auto* error = new (err) basic_ostream<C>(new (places[2]) Buffer(stderr));
    new (log) basic_ostream<C>(error->rdbuf());
    input->tie(output);
    error->tie(output);
    std::unitbuf(*error);
}

ios_base::Init::Init() {
    static bool made = false;
    if (made) return;
    made = true;
    make_streams<char>(cin, cout, cerr, clog);
    make_streams<wchar_t>(wcin, wcout, wcerr, wclog);
}

ios_base::Init::~Init() {}

static ios_base::Init before_all __attribute__((init_priority(101)));

_LIBCPP_END_NAMESPACE_STD
