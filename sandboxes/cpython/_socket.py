"""Sockets that cannot be opened. Modules such as `asyncio` and `unittest.mock` import `socket`, and most of what they do needs none."""

import errno

AF_UNSPEC, AF_UNIX, AF_INET, AF_INET6 = 0, 3, 1, 2
SOCK_STREAM, SOCK_DGRAM = 6, 5
SOL_SOCKET, SOMAXCONN = 0x7FFFFFFF, 128
SO_REUSEADDR, SO_ERROR, SO_TYPE, SO_KEEPALIVE, SO_BROADCAST = 2, 4, 3, 9, 6
IPPROTO_IP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_IPV6, IPV6_V6ONLY, TCP_NODELAY = 0, 6, 17, 41, 26, 1
MSG_PEEK, MSG_WAITALL = 1, 2
SHUT_RD, SHUT_WR, SHUT_RDWR = 1, 2, 3
AI_PASSIVE, AI_CANONNAME, AI_NUMERICHOST, NI_NUMERICHOST = 1, 2, 4, 1
EAI_FAIL, EAI_NONAME, EAI_FAMILY = -4, -2, -6
has_ipv6 = False
error, timeout = OSError, TimeoutError


class herror(OSError):
    pass


class gaierror(OSError):
    pass


class socket:
    __slots__ = ()

    def __init__(self, family=-1, type=-1, proto=-1, fileno=None):
        raise OSError(errno.ENOTSUP, "there are no sockets in a guest")

    def _no_socket(self, *arguments):
        raise OSError(errno.EBADF, "there are no sockets in a guest")

    # What `socket.socket` calls or wraps.
    _accept = bind = close = connect = detach = fileno = listen = recv = send = _no_socket
    family = type = proto = timeout = property(_no_socket)
    gettimeout = settimeout = setblocking = setsockopt = shutdown = _no_socket


SocketType = socket


def getaddrinfo(host, port, family=0, type=0, proto=0, flags=0):
    raise gaierror(EAI_FAIL, "there is no network in a guest")


gethostbyname = gethostbyaddr = getnameinfo = getservbyname = getaddrinfo


def gethostname():
    return "localhost"


def getdefaulttimeout():
    return None


def setdefaulttimeout(timeout):
    pass


def close(fd):
    raise OSError(errno.EBADF, "there are no sockets in a guest")


def dup(fd):
    raise OSError(errno.EBADF, "there are no sockets in a guest")


def _byte_swap(size):
    return lambda number: int.from_bytes(number.to_bytes(size, "big"), "little")


htons = ntohs = _byte_swap(2)
htonl = ntohl = _byte_swap(4)
