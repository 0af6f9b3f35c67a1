from tiny.m234 import f


def test_0():
    assert f('ccac') == 'ccacz'


def test_1():
    assert f('cab') == 'cabz'


def test_2():
    assert f('daec') == 'daecz'


def test_3():
    assert f('dadc') == 'dadcz'


def test_4():
    assert f('ec') == 'ecz'


def test_5():
    assert f('dc') == 'dcz'


def test_6():
    assert f('cdc') == 'cdcz'


def test_7():
    assert f('bac') == 'bacz'
