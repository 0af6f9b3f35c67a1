// The interface of Codeforces' testlib for checkers and interactors. A program that includes "testlib.h" finds this file unless it brings its own.
// There are no validators and generators, and `rnd` draws other numbers than theirs.
//
// How a checker ends: status 0 right, 1 wrong, 2 wrong format, 3 a failure of the checker or of the task, 7 points. Standard error begins with the
// same in words.
#ifndef VERIPLAY_TESTLIB_H
#define VERIPLAY_TESTLIB_H

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#define NORETURN [[noreturn]]
#define TESTLIB_PRINTF(format_at, first) __attribute__((format(printf, format_at, first)))

enum TResult { _ok = 0, _wa = 1, _pe = 2, _fail = 3, _dirt = 4, _points = 5, _unexpected_eof = 8, _partially = 16 };
enum TMode { _input, _output, _answer };
#define _pc(percent) (TResult(_partially + (percent)))

inline constexpr char LF = 10, CR = 13, TAB = 9, SPACE = 32;
/// What a stream gives behind its last character.
inline constexpr int EOFC = -1;

inline std::string testlib_print(const char *pattern, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, pattern, arguments);
    std::string text(length > 0 ? length : 0, '\0');
    if (length > 0) std::vsnprintf(text.data(), text.size() + 1, pattern, again);
    va_end(again);
    return text;
}

TESTLIB_PRINTF(1, 2) inline std::string testlib_text(const char *pattern, ...) {
    va_list arguments;
    va_start(arguments, pattern);
    std::string text = testlib_print(pattern, arguments);
    va_end(arguments);
    return text;
}

// Templates, so that they are better matches than `std::format` where a program uses the namespace `std`.
template <class... T> std::string format(const char *pattern, T... values) {
    return testlib_text(pattern, values...);
}
template <class... T> std::string format(const std::string &pattern, T... values) {
    return testlib_text(pattern.c_str(), values...);
}

inline bool isBlanks(int c) { return c == LF || c == CR || c == SPACE || c == TAB; }
inline bool isEoln(int c) { return c == LF || c == CR; }
inline bool isEof(int c) { return c == EOFC; }
inline char lowerCase(char c) { return 'A' <= c && c <= 'Z' ? char(c - 'A' + 'a') : c; }
inline char upperCase(char c) { return 'a' <= c && c <= 'z' ? char(c - 'a' + 'A') : c; }
inline std::string lowerCase(std::string text) {
    for (char &c : text) c = lowerCase(c);
    return text;
}
inline std::string upperCase(std::string text) {
    for (char &c : text) c = upperCase(c);
    return text;
}

inline std::string trim(const std::string &text) {
    size_t from = 0, to = text.size();
    while (from < to && isBlanks(text[from])) ++from;
    while (from < to && isBlanks(text[to - 1])) --to;
    return text.substr(from, to - from);
}

/// A long text as its beginning and its end.
inline std::string compress(const std::string &text) {
    return text.size() <= 64 ? text : text.substr(0, 30) + "..." + text.substr(text.size() - 31);
}

inline std::string englishEnding(long long number) {
    const long long last = std::llabs(number % 100);
    if (last / 10 == 1) return "th";
    switch (last % 10) {
        case 1: return "st";
        case 2: return "nd";
        case 3: return "rd";
        default: return "th";
    }
}

template <class T> std::string vtos(const T &value) {
    std::ostringstream out;
    out << value;
    return out.str();
}
template <class T> std::string toString(const T &value) { return vtos(value); }

template <class It> std::string join(It first, It last, const std::string &between = " ") {
    std::ostringstream out;
    for (It at = first; at != last; ++at) {
        if (at != first) out << between;
        out << *at;
    }
    return out.str();
}
template <class C> std::string join(const C &all, const std::string &between = " ") {
    return join(all.begin(), all.end(), between);
}

/// The parts between separators, of which some may be empty.
inline std::vector<std::string> split(const std::string &text, const std::string &separators) {
    std::vector<std::string> parts(1);
    for (char c : text) {
        if (separators.find(c) == std::string::npos) parts.back() += c;
        else parts.emplace_back();
    }
    return parts;
}
inline std::vector<std::string> split(const std::string &text, char separator) {
    return split(text, std::string(1, separator));
}
/// The parts that are not empty.
inline std::vector<std::string> tokenize(const std::string &text, const std::string &separators) {
    std::vector<std::string> parts = split(text, separators);
    std::erase(parts, std::string());
    return parts;
}
inline std::vector<std::string> tokenize(const std::string &text, char separator) {
    return tokenize(text, std::string(1, separator));
}

/// What a whole word or line must match: a regular expression without blanks, in which `.`, `$` and `^` are characters like others but for a `^`
/// that begins a set.
class pattern {
    std::string text;
    std::regex expression;

    static std::string as_regex(const std::string &source) {
        std::string all;
        char last = 0;
        for (size_t at = 0; at < source.size(); last = source[at++]) {
            const char c = source[at];
            if (c == SPACE) continue;
            if (c == '.' || c == '$' || (c == '^' && last != '[')) all += '\\';
            all += c;
            if (c == '\\' && at + 1 < source.size()) all += source[++at];
        }
        return all;
    }

public:
    pattern(const std::string &source) : text(source), expression(as_regex(source)) {}
    bool matches(const std::string &word) const { return std::regex_match(word, expression); }
    std::string src() const { return text; }
};

/// Whether the result is within the error, absolute or relative to what is expected.
inline bool doubleCompare(double expected, double result, double error) {
    if (std::isnan(expected) || std::isnan(result)) return std::isnan(expected) && std::isnan(result);
    if (std::isinf(expected) || std::isinf(result)) return expected == result;
    const double slack = 1e-15, distance = std::fabs(result - expected);
    return distance <= error + slack || distance <= error * std::fabs(expected) + slack;
}

/// The absolute error, or the relative one where that is less.
inline double doubleDelta(double expected, double result) {
    const double distance = std::fabs(result - expected), size = std::fabs(expected);
    return size > 1 ? distance / size : distance;
}

// ---- how it ends ----

struct TestlibState {
    bool is_interactor = false;
    bool has_quit = false;
    int test_case = -1;

    ~TestlibState() {
        if (has_quit) return;
        std::fputs("FAIL it must end by a call of quit or quitf\n", stderr);
        std::fflush(nullptr);
        std::_Exit(_fail);
    }
};
inline TestlibState testlib_state;
inline std::fstream tout;

inline void setTestCase(int number) { testlib_state.test_case = number; }
inline void unsetTestCase() { testlib_state.test_case = -1; }
template <class... T> void setName(const char *, T...) {}

/// Ends the program with this status, and these words on standard error.
NORETURN inline void testlib_end(int status, const std::string &word, const std::string &message) {
    testlib_state.has_quit = true;
    std::string of_case;
    if (testlib_state.test_case >= 0) of_case = testlib_text(" (test case %d)", testlib_state.test_case);
    std::fprintf(stderr, "%s %s%s\n", word.c_str(), message.c_str(), of_case.c_str());
    if (tout.is_open()) tout.close();
    std::fflush(nullptr);
    std::exit(status);
}

/// Whether a file has nothing behind what was read but blanks. `ouf` tells it, which is defined below.
inline bool testlib_is_output_read();

NORETURN inline void testlib_end_with_points(const std::string &points, const std::string &message) {
    if (!testlib_is_output_read()) testlib_end(2, "wrong output format", "there is more output than there should be");
    testlib_end(7, "points " + points, message);
}

NORETURN inline void quit(TResult result, const std::string &message = "") {
    if (result >= _partially) testlib_end_with_points(testlib_text("%d", int(result) - _partially), message);
    switch (result) {
        case _ok:
            if (!testlib_is_output_read()) quit(_dirt, "there is more output than there should be");
            testlib_end(0, "ok", message);
        case _wa: testlib_end(1, "wrong answer", message);
        case _pe:
        case _dirt:
        case _unexpected_eof: testlib_end(2, "wrong output format", message);
        case _points: testlib_end_with_points("", message);
        default: testlib_end(3, "FAIL", message);
    }
}

NORETURN TESTLIB_PRINTF(2, 3) inline void quitf(TResult result, const char *pattern, ...) {
    va_list arguments;
    va_start(arguments, pattern);
    quit(result, testlib_print(pattern, arguments));
}

TESTLIB_PRINTF(3, 4) inline void quitif(bool condition, TResult result, const char *pattern, ...) {
    if (!condition) return;
    va_list arguments;
    va_start(arguments, pattern);
    quit(result, testlib_print(pattern, arguments));
}

template <class P, class... T> NORETURN void quitp(P points, const char *pattern, T... values) {
    testlib_end_with_points(testlib_text("%.10g", double(points)), testlib_text(pattern, values...));
}
template <class P> NORETURN void quitp(P points, const std::string &message = "") {
    testlib_end_with_points(testlib_text("%.10g", double(points)), message);
}

/// Points with words of the grader's behind them.
template <class... T> NORETURN void quitpi(const std::string &points, const char *pattern, T... values) {
    testlib_end_with_points(points, testlib_text(pattern, values...));
}
NORETURN inline void quitpi(const std::string &points, const std::string &message) {
    testlib_end_with_points(points, message);
}

TESTLIB_PRINTF(2, 3) inline void ensuref(bool condition, const char *pattern, ...) {
    if (condition) return;
    va_list arguments;
    va_start(arguments, pattern);
    quit(_fail, testlib_print(pattern, arguments));
}
inline void testlib_ensure(bool condition, const char *text) {
    ensuref(condition, "this does not hold: `%s`", text);
}
#define ensure(condition) testlib_ensure(bool(condition), #condition)

template <class T>
NORETURN void expectedButFound(TResult result, const T &expected, const T &found, const std::string &before = "") {
    const std::string prefix = before.empty() ? "" : before + ", ";
    quit(result, prefix + "expected '" + compress(vtos(expected)) + "', found '" + compress(vtos(found)) + "'");
}
template <class T, class... U>
NORETURN void expectedButFound(TResult result, const T &expected, const T &found, const char *pattern, U... values) {
    expectedButFound(result, expected, found, testlib_text(pattern, values...));
}
NORETURN inline void expectedButFound(TResult result, const char *expected, const char *found) {
    expectedButFound(result, std::string(expected), std::string(found));
}

// ---- what it reads ----

/// A file of words and lines. What is wrong in `ouf` is the program's fault, and in other files the task's.
struct InStream {
    std::FILE *file = nullptr;
    TMode mode = _input;
    std::string name;
    /// The next character, which was read but not taken; -2 where there is none.
    int next = -2;

    void open(const std::string &path, TMode of_mode, const char *of_name) {
        file = std::fopen(path.c_str(), "rb"), mode = of_mode, name = of_name, next = -2;
        if (!file) ::quit(_fail, "cannot open the file " + path);
    }

    NORETURN void quit(TResult result, const std::string &message = "") {
        const bool is_own_fault = mode == _output || result == _fail;
        ::quit(is_own_fault ? result : _fail, is_own_fault ? message : message + " (" + name + ")");
    }
    NORETURN TESTLIB_PRINTF(3, 4) void quitf(TResult result, const char *pattern, ...) {
        va_list arguments;
        va_start(arguments, pattern);
        quit(result, testlib_print(pattern, arguments));
    }
    TESTLIB_PRINTF(4, 5) void quitif(bool condition, TResult result, const char *pattern, ...) {
        if (!condition) return;
        va_list arguments;
        va_start(arguments, pattern);
        quit(result, testlib_print(pattern, arguments));
    }

    void reset() {
        if (file) std::rewind(file);
        next = -2;
    }

    int curChar() {
        if (next == -2) next = file ? std::getc(file) : EOFC;
        return next;
    }
    int nextChar() {
        const int taken = curChar();
        // A file has no character behind its end.
        if (taken != EOFC) next = -2;
        return taken;
    }
    void skipChar() { nextChar(); }
    bool eof() { return curChar() == EOFC; }
    /// Whether the line ends here, or the file. Takes the end of the line, in which a CR stands before an LF alone.
    bool eoln() {
        if (curChar() == CR) {
            const int behind = std::getc(file);
            std::ungetc(behind, file);
            if (behind == LF) skipChar();
        }
        if (curChar() != LF) return eof();
        skipChar();
        return true;
    }
    void skipBlanks() {
        while (isBlanks(curChar())) skipChar();
    }
    bool seekEof() {
        skipBlanks();
        return eof();
    }
    bool seekEoln() {
        while (curChar() == SPACE || curChar() == TAB) skipChar();
        return eoln();
    }
    void nextLine() { readLine(); }

    /// The next character; behind the last one it is `char(EOFC)`, as testlib has it.
    char readChar() { return char(nextChar()); }
    char readChar(char wanted) {
        const char found = readChar();
        if (found != wanted) quitf(_pe, "'%c' was expected, and found is '%c'", wanted, found);
        return found;
    }
    char readSpace() { return readChar(SPACE); }
    void unreadChar(char c) {
        if (next >= 0) std::ungetc(next, file);
        next = static_cast<unsigned char>(c);
    }

    std::string readWord() {
        skipBlanks();
        if (eof()) quit(_unexpected_eof, "the file ends where a word was expected");
        std::string word;
        while (!eof() && !isBlanks(curChar())) word += char(nextChar());
        return word;
    }
    std::string readToken() { return readWord(); }
    std::string readWord(const std::string &pattern, const std::string &what = "") {
        return matched(readWord(), pattern, what, "word");
    }
    std::string readToken(const std::string &pattern, const std::string &what = "") { return readWord(pattern, what); }
    std::string readWord(const ::pattern &wanted, const std::string &what = "") {
        return matched(readWord(), wanted, what, "word");
    }
    std::string readToken(const ::pattern &wanted, const std::string &what = "") { return readWord(wanted, what); }
    void readWordTo(std::string &word) { word = readWord(); }
    void readTokenTo(std::string &word) { word = readWord(); }
    void readWordTo(std::string &word, const std::string &pattern, const std::string &what = "") {
        word = readWord(pattern, what);
    }
    void readTokenTo(std::string &word, const std::string &pattern, const std::string &what = "") {
        word = readWord(pattern, what);
    }

    /// The rest of the line, without its end, which is taken. At the end of the file it is empty.
    std::string readLine() {
        std::string line;
        while (!eoln()) line += char(nextChar());
        return line;
    }
    std::string readString() { return readLine(); }
    std::string readLine(const std::string &pattern, const std::string &what = "") {
        return matched(readLine(), pattern, what, "line");
    }
    std::string readString(const std::string &pattern, const std::string &what = "") { return readLine(pattern, what); }
    std::string readLine(const ::pattern &wanted, const std::string &what = "") {
        return matched(readLine(), wanted, what, "line");
    }
    void readLineTo(std::string &line) { line = readLine(); }
    void readStringTo(std::string &line) { line = readLine(); }
    void readLineTo(std::string &line, const std::string &pattern, const std::string &what = "") {
        line = readLine(pattern, what);
    }
    void readStringTo(std::string &line, const std::string &pattern, const std::string &what = "") {
        line = readLine(pattern, what);
    }

    void readEoln() {
        if (!eoln()) quit(_pe, "the end of a line was expected");
    }
    void readEof() {
        if (!eof()) quit(_pe, "the end of the file was expected");
    }

    int readInt() { return whole<int>(readWord()); }
    int readInteger() { return readInt(); }
    long long readLong() { return whole<long long>(readWord()); }
    unsigned long long readUnsignedLong() { return whole<unsigned long long>(readWord()); }
    int readInt(int least, int most, const std::string &what = "") { return within(readInt(), least, most, what); }
    int readInteger(int least, int most, const std::string &what = "") { return readInt(least, most, what); }
    long long readLong(long long least, long long most, const std::string &what = "") {
        return within(readLong(), least, most, what);
    }
    unsigned long long readUnsignedLong(
        unsigned long long least, unsigned long long most, const std::string &what = ""
    ) {
        return within(readUnsignedLong(), least, most, what);
    }

    double readReal() { return real(readWord()); }
    double readDouble() { return readReal(); }
    double readReal(double least, double most, const std::string &what = "") {
        return within(readReal(), least, most, what);
    }
    double readDouble(double least, double most, const std::string &what = "") { return readReal(least, most, what); }
    /// A number without an exponent, with so many digits behind the point.
    double readStrictReal(double least, double most, int least_digits, int most_digits, const std::string &what = "") {
        const std::string word = readWord();
        const size_t point = word.find('.');
        const int digits = point == std::string::npos ? 0 : int(word.size() - point - 1);
        const size_t first = word[0] == '-' ? 1 : 0;
        const bool is_plain = word.find_first_not_of(".0123456789", first) == std::string::npos;
        if (!is_plain || word.back() < '0' || digits < least_digits || digits > most_digits) {
            quitf(
                _pe, "a number with %d to %d digits behind its point was expected, and found is '%s'", least_digits,
                most_digits, compress(word).c_str()
            );
        }
        return within(real(word), least, most, what);
    }
    double readStrictDouble(double least, double most, int least_digits, int most_digits, const std::string &what = "") {
        return readStrictReal(least, most, least_digits, most_digits, what);
    }
    std::vector<double> readStrictReals(
        int count, double least, double most, int least_digits, int most_digits, const std::string &what = "",
        int first = 1
    ) {
        std::vector<double> all;
        for (int at = 0; at < count; ++at) {
            all.push_back(readStrictReal(least, most, least_digits, most_digits, item(what, first + at)));
        }
        return all;
    }
    std::vector<double> readStrictDoubles(
        int count, double least, double most, int least_digits, int most_digits, const std::string &what = "",
        int first = 1
    ) {
        return readStrictReals(count, least, most, least_digits, most_digits, what, first);
    }

// Several at once: `readInts(n, index of the first)`, and with bounds `readInts(n, least, most, name, index of the first)`.
#define TESTLIB_SEVERAL(type, one, several)                                                                           \
    std::vector<type> several(int count, int = 1) {                                                                   \
        std::vector<type> all;                                                                                        \
        for (int at = 0; at < count; ++at) all.push_back(one());                                                      \
        return all;                                                                                                   \
    }
#define TESTLIB_SEVERAL_WITHIN(type, one, several)                                                                    \
    TESTLIB_SEVERAL(type, one, several)                                                                               \
    std::vector<type> several(int count, type least, type most, const std::string &what = "", int first = 1) {        \
        std::vector<type> all;                                                                                        \
        for (int at = 0; at < count; ++at) all.push_back(one(least, most, item(what, first + at)));                   \
        return all;                                                                                                   \
    }
#define TESTLIB_SEVERAL_MATCHING(one, several)                                                                        \
    TESTLIB_SEVERAL(std::string, one, several)                                                                        \
    std::vector<std::string> several(                                                                                 \
        int count, const std::string &pattern, const std::string &what = "", int first = 1                            \
    ) {                                                                                                               \
        std::vector<std::string> all;                                                                                 \
        for (int at = 0; at < count; ++at) all.push_back(one(pattern, item(what, first + at)));                       \
        return all;                                                                                                   \
    }
    TESTLIB_SEVERAL_WITHIN(int, readInt, readInts)
    TESTLIB_SEVERAL_WITHIN(int, readInt, readIntegers)
    TESTLIB_SEVERAL_WITHIN(long long, readLong, readLongs)
    TESTLIB_SEVERAL_WITHIN(unsigned long long, readUnsignedLong, readUnsignedLongs)
    TESTLIB_SEVERAL_WITHIN(double, readReal, readReals)
    TESTLIB_SEVERAL_WITHIN(double, readReal, readDoubles)
    TESTLIB_SEVERAL_MATCHING(readWord, readWords)
    TESTLIB_SEVERAL_MATCHING(readWord, readTokens)
    TESTLIB_SEVERAL_MATCHING(readLine, readLines)
    TESTLIB_SEVERAL_MATCHING(readLine, readStrings)

    /// A whole number in decimal digits as programs write it: no sign of plus, no zero before it.
    template <class T> T whole(const std::string &word) {
        const size_t first = word[0] == '-' ? 1 : 0;
        const bool is_signed = std::numeric_limits<T>::is_signed;
        const bool has_digits = word.size() > first && word.find_first_not_of("0123456789", first) == std::string::npos;
        if (!has_digits || (first && !is_signed) || (word[first] == '0' && word.size() > 1)) {
            quit(_pe, "a whole number was expected, and found is '" + compress(word) + "'");
        }
        T value = 0;
        bool is_large = false;
        for (size_t at = first; at < word.size(); ++at) {
            const T digit = T(word[at] - '0');
            is_large = is_large || __builtin_mul_overflow(value, T(10), &value);
            is_large = is_large || (first && __builtin_sub_overflow(value, digit, &value));
            is_large = is_large || (!first && __builtin_add_overflow(value, digit, &value));
        }
        if (is_large) quit(_pe, "a number is too large: '" + compress(word) + "'");
        return value;
    }

private:
    static std::string item(const std::string &what, int index) {
        return what.empty() ? what : what + "[" + std::to_string(index) + "]";
    }

    std::string matched(std::string text, const pattern &wanted, const std::string &what, const char *kind) {
        if (!wanted.matches(text)) {
            quitf(
                _wa, "%s '%s' does not match '%s'", what.empty() ? kind : what.c_str(), compress(text).c_str(),
                compress(wanted.src()).c_str()
            );
        }
        return text;
    }

    template <class T> T within(T value, T least, T most, const std::string &what) {
        if (!(least <= value && value <= most)) {
            const std::string named = what.empty() ? "number" : what;
            quit(_wa, named + " " + vtos(value) + " is not within " + vtos(least) + " and " + vtos(most));
        }
        return value;
    }

    double real(const std::string &word) {
        const bool is_plain = word.find_first_not_of("+-.0123456789eE") == std::string::npos;
        char *end = nullptr;
        const double value = std::strtod(word.c_str(), &end);
        if (!is_plain || *end) {
            quit(_pe, "a number was expected, and found is '" + compress(word) + "'");
        }
        return value;
    }
};

inline InStream inf, ouf, ans;

inline bool testlib_is_output_read() { return testlib_state.is_interactor || !ouf.file || ouf.seekEof(); }

inline int stringToInt(InStream &in, const char *text) { return in.whole<int>(text); }
inline long long stringToLongLong(InStream &in, const char *text) { return in.whole<long long>(text); }

inline void registerTestlibCmd(int argc, char *argv[]) {
    if (argc < 4) quit(_fail, "a checker has the arguments: input, output, answer");
    inf.open(argv[1], _input, "input"), ouf.open(argv[2], _output, "output"), ans.open(argv[3], _answer, "answer");
}

inline void registerTestlib(int argc, ...) {
    if (argc < 3) quit(_fail, "a checker has the arguments: input, output, answer");
    va_list paths;
    va_start(paths, argc);
    inf.open(va_arg(paths, char *), _input, "input");
    ouf.open(va_arg(paths, char *), _output, "output");
    ans.open(va_arg(paths, char *), _answer, "answer");
    va_end(paths);
}

inline void registerInteraction(int argc, char *argv[]) {
    testlib_state.is_interactor = true;
    if (argc < 3) quit(_fail, "an interactor has the arguments: input, output, answer");
    inf.open(argv[1], _input, "input");
    tout.open(argv[2], std::ios_base::out);
    ouf.file = stdin, ouf.mode = _output, ouf.name = "output";
    if (argc > 3) ans.open(argv[3], _answer, "answer");
}

// ---- random numbers ----

/// SplitMix64, from a constant seed.
struct random_t {
    uint64_t state = 0x76657269706c6179;

    void setSeed(long long seed) { state = uint64_t(seed); }
    uint64_t word() {
        uint64_t z = state += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    /// Below `count`, each equally likely.
    uint64_t below(uint64_t count) {
        if (count == 0) quit(_fail, "rnd.next needs a number above 0");
        const uint64_t rest = (UINT64_MAX % count + 1) % count;
        uint64_t drawn = word();
        while (drawn > UINT64_MAX - rest) drawn = word();
        return drawn % count;
    }

    double next() { return double(word() >> 11) / 9007199254740992.0; }
    int next(int count) { return int(below(count > 0 ? count : 0)); }
    long next(long count) { return long(below(count > 0 ? count : 0)); }
    long long next(long long count) { return (long long)(below(count > 0 ? count : 0)); }
    double next(double most) { return next() * most; }
    int next(int least, int most) { return int(next((long long)(least), (long long)(most))); }
    long next(long least, long most) { return long(next((long long)(least), (long long)(most))); }
    long long next(long long least, long long most) {
        if (least > most) quit(_fail, "rnd.next needs bounds in order");
        const uint64_t count = uint64_t(most) - uint64_t(least) + 1;
        return (long long)(uint64_t(least) + (count ? below(count) : word()));
    }
    double next(double least, double most) { return least + next() * (most - least); }
    /// The largest of so many draws, or the smallest where the weight is negative.
    template <class T> T wnext(T count, int weight) {
        T found = next(count);
        for (int draw = 0; draw < std::abs(weight); ++draw) {
            found = weight > 0 ? std::max(found, next(count)) : std::min(found, next(count));
        }
        return found;
    }
    template <class T> T wnext(T least, T most, int weight) { return least + wnext(T(most - least + 1), weight); }
    template <class C> typename C::value_type any(const C &all) {
        if (all.empty()) quit(_fail, "rnd.any needs something to choose from");
        return *std::next(all.begin(), std::ptrdiff_t(below(all.size())));
    }
    template <class T> std::vector<T> perm(T size, T first = 0) {
        std::vector<T> all;
        for (T at = 0; at < size; ++at) all.push_back(first + at);
        shuffled(all.begin(), all.end());
        return all;
    }
    template <class T> std::vector<T> distinct(int size, T least, T most) {
        const bool is_enough = size <= 0 || uint64_t(most) - uint64_t(least) >= uint64_t(size) - 1;
        if (!is_enough) quit(_fail, "rnd.distinct needs more numbers to draw from");
        std::vector<T> all;
        for (std::set<T> seen; int(all.size()) < size;) {
            const T drawn = next(least, most);
            if (seen.insert(drawn).second) all.push_back(drawn);
        }
        return all;
    }
    template <class It> void shuffled(It first, It last) {
        for (auto left = last - first; left > 1; --left) std::iter_swap(first + (left - 1), first + below(left));
    }
};

inline random_t rnd;

template <class It> void shuffle(It first, It last) { rnd.shuffled(first, last); }

#endif
