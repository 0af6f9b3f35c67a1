from tiny.m165 import f


def test_0():
    assert f('ac') == 'accc'


def test_1():
    assert f('baed') == 'abdecc'


def test_2():
    assert f('cdea') == 'acdecc'


def test_3():
    assert f('abaa') == 'aaabcc'


def test_4():
    assert f('bcad') == 'abcdcc'


def test_5():
    assert f('eeda') == 'adeecc'


def test_6():
    assert f('bddb') == 'bbddcc'


def test_7():
    assert f('ce') == 'cecc'
