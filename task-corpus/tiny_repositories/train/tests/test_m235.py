from tiny.m235 import f


def test_0():
    assert f('bc') == 'BCBC'


def test_1():
    assert f('bd') == 'BDBD'


def test_2():
    assert f('ec') == 'ECEC'


def test_3():
    assert f('abeb') == 'ABEBABEB'


def test_4():
    assert f('aaed') == 'AAEDAAED'


def test_5():
    assert f('aaa') == 'AAAAAA'


def test_6():
    assert f('ed') == 'EDED'


def test_7():
    assert f('cec') == 'CECCEC'
