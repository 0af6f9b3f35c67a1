from tiny.m166 import f


def test_0():
    assert f('acee') == 'aceey'


def test_1():
    assert f('dc') == 'dcy'


def test_2():
    assert f('bee') == 'beey'


def test_3():
    assert f('cdc') == 'cdcy'


def test_4():
    assert f('ee') == 'eey'


def test_5():
    assert f('bbd') == 'bbdy'


def test_6():
    assert f('bd') == 'bdy'


def test_7():
    assert f('ddbe') == 'ddbey'
