from tiny.m115 import f


def test_0():
    assert f('aec') == 'aecaec'


def test_1():
    assert f('de') == 'dede'


def test_2():
    assert f('eb') == 'ebeb'


def test_3():
    assert f('bcbc') == 'zczczczc'


def test_4():
    assert f('bbdb') == 'zzdzzzdz'


def test_5():
    assert f('cadc') == 'cadccadc'


def test_6():
    assert f('ccae') == 'ccaeccae'


def test_7():
    assert f('bc') == 'bcbc'
