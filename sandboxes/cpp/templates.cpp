// Parts of libc++ that its archive holds unoptimised: the templates that its headers declare to be instantiated there. Programs are linked with these
// instead, so that reading, printing, strings and sorting are as fast as the rest of a program.
#include <bits/stdc++.h>

_LIBCPP_BEGIN_NAMESPACE_STD

template class basic_ios<char>;
template class basic_streambuf<char>;
template class basic_istream<char>;
template class basic_ostream<char>;
template class basic_iostream<char>;
template class basic_stringbuf<char>;
template class basic_stringstream<char>;
template class basic_istringstream<char>;
template class basic_ostringstream<char>;
template class basic_filebuf<char>;
template class basic_ifstream<char>;
template class basic_ofstream<char>;
template struct __num_get<char>;
template struct __num_put<char>;
template class num_get<char>;
template class num_put<char>;

#define INSTANTIATE(...) template __VA_ARGS__;
_LIBCPP_STRING_V1_EXTERN_TEMPLATE_LIST(INSTANTIATE, char)
template string operator+<char, char_traits<char>, allocator<char>>(const char*, const string&);

template <class Compare, class Iterator>
void __sort(Iterator first, Iterator last, Compare) {
    using Less = __less<>;
    Less compare;
    auto depth = 2 * std::__bit_log2(std::__to_unsigned_like(last - first));
    std::__introsort<_ClassicAlgPolicy, Less&, Iterator, __use_branchless_sort<Less, Iterator>>(first, last, compare, depth);
}

#define SORT(T) template void __sort<__less<T>&, T*>(T*, T*, __less<T>&);
SORT(char)
SORT(signed char)
SORT(unsigned char)
SORT(short)
SORT(unsigned short)
SORT(int)
SORT(unsigned)
SORT(long)
SORT(unsigned long)
SORT(long long)
SORT(unsigned long long)
SORT(float)
SORT(double)
SORT(long double)

_LIBCPP_END_NAMESPACE_STD
