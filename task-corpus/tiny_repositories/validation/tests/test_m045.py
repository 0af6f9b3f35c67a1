from tiny.m045 import f


def test_0():
    assert f('eac') == 'EACB'


def test_1():
    assert f('ce') == 'CEB'


def test_2():
    assert f('cece') == 'CECEB'


def test_3():
    assert f('cd') == 'CDB'


def test_4():
    assert f('acb') == 'ACBB'


def test_5():
    assert f('ae') == 'AEB'


def test_6():
    assert f('dccd') == 'DCCDB'


def test_7():
    assert f('ccc') == 'CCCB'
