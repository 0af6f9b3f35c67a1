from tiny.m143 import f


def test_0():
    assert f('aa') == 'aa'


def test_1():
    assert f('aca') == 'aca'


def test_2():
    assert f('ac') == 'ac'


def test_3():
    assert f('bb') == 'bb'


def test_4():
    assert f('dcdb') == 'cb'


def test_5():
    assert f('ebaa') == 'ebaa'


def test_6():
    assert f('eda') == 'ea'


def test_7():
    assert f('ada') == 'aa'
