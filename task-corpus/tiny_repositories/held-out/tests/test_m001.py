from tiny.m001 import f


def test_0():
    assert f('bc') == 'abc'


def test_1():
    assert f('ca') == 'aca'


def test_2():
    assert f('deea') == 'adeea'


def test_3():
    assert f('aade') == 'aaade'


def test_4():
    assert f('ee') == 'aee'


def test_5():
    assert f('cacc') == 'acacc'


def test_6():
    assert f('abea') == 'aabea'


def test_7():
    assert f('ab') == 'aab'
