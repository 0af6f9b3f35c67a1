from tiny.m052 import f


def test_0():
    assert f('ccea') == 'eacceac'


def test_1():
    assert f('be') == 'beb'


def test_2():
    assert f('bebe') == 'bebebeb'


def test_3():
    assert f('de') == 'ded'


def test_4():
    assert f('dba') == 'adbad'


def test_5():
    assert f('cde') == 'ecdec'


def test_6():
    assert f('bbe') == 'ebbeb'


def test_7():
    assert f('dad') == 'ddadd'
