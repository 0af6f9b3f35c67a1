from tiny.m112 import f


def test_0():
    assert f('bb') == 'x'


def test_1():
    assert f('dce') == 'de'


def test_2():
    assert f('aa') == 'a'


def test_3():
    assert f('ea') == 'e'


def test_4():
    assert f('ddd') == 'dd'


def test_5():
    assert f('bee') == 'xe'


def test_6():
    assert f('bbe') == 'xe'


def test_7():
    assert f('ce') == 'c'
