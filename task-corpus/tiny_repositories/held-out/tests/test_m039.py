from tiny.m039 import f


def test_0():
    assert f('cb') == 'acbzacbz'


def test_1():
    assert f('eac') == 'aeaczaeacz'


def test_2():
    assert f('ce') == 'acezacez'


def test_3():
    assert f('cece') == 'acecezacecez'


def test_4():
    assert f('cd') == 'acdzacdz'


def test_5():
    assert f('acb') == 'aacbzaacbz'


def test_6():
    assert f('ae') == 'aaezaaez'


def test_7():
    assert f('dccd') == 'adccdzadccdz'
