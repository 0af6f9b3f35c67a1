from tiny.m099 import f


def test_0():
    assert f('ade') == 'deade'


def test_1():
    assert f('ec') == 'cec'


def test_2():
    assert f('ab') == 'b'


def test_3():
    assert f('ead') == 'adead'


def test_4():
    assert f('ecdd') == 'cddecdd'


def test_5():
    assert f('aa') == 'a'


def test_6():
    assert f('bd') == 'd'


def test_7():
    assert f('ecc') == 'ccecc'
