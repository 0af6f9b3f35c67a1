from tiny.m141 import f


def test_0():
    assert f('dcd') == 'DCDDCDDCD'


def test_1():
    assert f('dcba') == 'DCBADCBADCBA'


def test_2():
    assert f('dba') == 'DBADBADBA'


def test_3():
    assert f('acc') == 'ACCACCACC'


def test_4():
    assert f('eaa') == 'EAAEAAEAA'


def test_5():
    assert f('edac') == 'EDACEDACEDAC'


def test_6():
    assert f('ea') == 'EAEAEA'


def test_7():
    assert f('aece') == 'AECEAECEAECE'
