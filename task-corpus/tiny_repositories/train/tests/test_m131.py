from tiny.m131 import f


def test_0():
    assert f('aba') == 'ABA'


def test_1():
    assert f('ac') == 'CA'


def test_2():
    assert f('cdde') == 'EDDC'


def test_3():
    assert f('dd') == 'DD'


def test_4():
    assert f('dba') == 'ABD'


def test_5():
    assert f('ae') == 'EA'


def test_6():
    assert f('daa') == 'AAD'


def test_7():
    assert f('cde') == 'EDC'
