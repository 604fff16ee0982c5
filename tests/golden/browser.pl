#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Opens a page in Debian's chromium, without a screen and without a network, and tells what it finds.
#
# usage: browser.pl PAGE.html CHECKS.js [WIDTH HEIGHT light|dark [SHOT.png]]...
#
# For each size and colour scheme the page is loaded anew and CHECKS.js, an expression, is evaluated
# in it: one line of JSON each, with "requests" (what the page asked for besides itself), "console"
# (messages, errors, refusals) and "result". SHOT.png gets what is on the screen.
#
# The browser is spoken to by the DevTools protocol over a pipe: NUL-terminated JSON, commands on
# descriptor 3, answers on 4 (--remote-debugging-pipe).
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use JSON::PP;
use MIME::Base64;
use POSIX ();

my ($page, $checks_file, @shots) = @ARGV;
die "usage: browser.pl PAGE.html CHECKS.js [WIDTH HEIGHT light|dark [SHOT.png]]...\n"
	unless $checks_file && @shots >= 3;
my $url = 'file://' . abs_path($page);
open(my $checks, '<', $checks_file) or die "$checks_file: $!\n";
my $expression = do { local $/; <$checks> };
my $profile = tempdir(CLEANUP => 1);

# A namespace of its own: whatever the browser itself would like to ask somebody, it can't.
my @command = ('unshare', '-n', '--', 'chromium', '--headless', '--no-sandbox', '--disable-gpu',
	'--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking',
	'--disable-component-update', '--disable-sync', '--hide-scrollbars',
	"--user-data-dir=$profile", '--remote-debugging-pipe', 'about:blank');

pipe(my $command_read, my $command_write) or die "pipe: $!";
pipe(my $answer_read, my $answer_write) or die "pipe: $!";
my $pid = fork() // die "fork: $!";
if (!$pid) {
	my ($in, $out) = (fileno($command_read), fileno($answer_write));

	# away from 3 and 4 first
	$in = POSIX::fcntl($command_read, POSIX::F_DUPFD(), 10);
	$out = POSIX::fcntl($answer_write, POSIX::F_DUPFD(), 10);
	POSIX::dup2($in, 3);
	POSIX::dup2($out, 4);
	$ENV{HOME} = $profile;
	open(STDERR, '>', '/dev/null');
	open(STDOUT, '>', '/dev/null');
	exec(@command) or POSIX::_exit(127);
}
close($command_read);
close($answer_write);
$command_write->autoflush(1);
$SIG{ALRM} = sub { die "the browser does not answer\n" };
alarm(120);
END { # however this ends, it does not stay
	if ($pid) {
		local $?;

		kill('KILL', $pid);
		waitpid($pid, 0);
	}
}

my ($last, $buffer, @events) = (0, '');

sub message {
	while ($buffer !~ /\0/) {
		sysread($answer_read, my $more, 65536) or die "the browser ended\n";
		$buffer .= $more;
	}
	$buffer =~ s/^([^\0]*)\0//;
	return decode_json($1);
}

# Sends a command and answers its result; events meanwhile are kept.
sub call {
	my ($method, $params, $session) = @_;
	my %command = (id => ++$last, method => $method, params => $params // {});

	$command{sessionId} = $session if $session;
	print $command_write encode_json(\%command) . "\0";
	for (;;) {
		my $m = message();

		if (($m->{id} // 0) != $last) {
			push @events, $m;
			next;
		}
		die "$method: $m->{error}{message}\n" if $m->{error};
		return $m->{result};
	}
}

sub wait_for {
	my ($method) = @_;

	return if grep { ($_->{method} // '') eq $method } @events;
	for (;;) {
		push @events, message();
		return if ($events[-1]{method} // '') eq $method;
	}
}

sub texts {
	my ($event) = @_;
	my $p = $event->{params};

	return map { $_->{value} // $_->{description} // '?' } @{ $p->{args} } if $p->{args};
	return $p->{entry}{text} if $p->{entry};
	return $p->{exceptionDetails}{text} . ' ' . ($p->{exceptionDetails}{exception}{description} // '');
}

my $json = JSON::PP->new->canonical;
while (@shots) {
	my ($width, $height, $scheme) = splice(@shots, 0, 3);
	my $shot = @shots && $shots[0] !~ /^\d+$/ ? shift @shots : undef;
	my $target = call('Target.createTarget', { url => 'about:blank' });
	my $session = call('Target.attachToTarget',
		{ targetId => $target->{targetId}, flatten => JSON::PP::true })->{sessionId};

	@events = ();
	call("$_.enable", {}, $session) for qw(Page Network Runtime Log);
	call('Emulation.setDeviceMetricsOverride',
		{ width => $width + 0, height => $height + 0, deviceScaleFactor => 1,
		  mobile => $width < 600 ? JSON::PP::true : JSON::PP::false }, $session);
	call('Emulation.setEmulatedMedia',
		{ features => [ { name => 'prefers-color-scheme', value => $scheme } ] }, $session);
	call('Page.navigate', { url => $url }, $session);
	wait_for('Page.loadEventFired');
	my $result = call('Runtime.evaluate',
		{ expression => $expression, returnByValue => JSON::PP::true,
		  awaitPromise => JSON::PP::true }, $session);
	die "the checks fail: $result->{exceptionDetails}{exception}{description}\n"
		if $result->{exceptionDetails};
	if ($shot) {
		my $png = call('Page.captureScreenshot', { format => 'png' }, $session)->{data};

		open(my $file, '>:raw', $shot) or die "$shot: $!\n";
		print $file decode_base64($png);
		close($file) or die "$shot: $!\n";
	}
	my @requests = map { $_->{params}{request}{url} }
		grep { ($_->{method} // '') eq 'Network.requestWillBeSent' } @events;
	my @console = map { texts($_) }
		grep { ($_->{method} // '') =~ /^(Runtime\.(consoleAPICalled|exceptionThrown)|Log\.entryAdded)$/ }
		@events;

	print $json->encode({ width => $width + 0, scheme => $scheme, console => \@console,
		requests => [ grep { $_ ne $url } @requests ],
		result => $result->{result}{value} }) . "\n";
	call('Target.closeTarget', { targetId => $target->{targetId} });
}
call('Browser.close');
waitpid($pid, 0);
$pid = 0;
