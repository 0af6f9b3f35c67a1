from tiny.m116 import f


def test_0():
    assert f('dc') == 'xdc'


def test_1():
    assert f('bba') == 'bab'


def test_2():
    assert f('ed') == 'xed'


def test_3():
    assert f('dbd') == 'bdd'


def test_4():
    assert f('ddae') == 'daed'


def test_5():
    assert f('ddee') == 'deed'


def test_6():
    assert f('cca') == 'cac'


def test_7():
    assert f('eb') == 'xeb'
