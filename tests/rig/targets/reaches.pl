#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Sends its stdin to a stream's listener, or is one that says nothing and notes each caller.
#
#   reaches.pl ADDRESS PORT | @NAME ""
#   reaches.pl --take ADDRESS PORT LOG | @NAME "" LOG
use strict;
use warnings;
use Socket;

my $take = @ARGV && $ARGV[0] eq '--take' && shift;
my ($to, $port, $log) = @ARGV;
my $abstract = $to =~ s/^@/\0/;
my $at = $abstract ? pack_sockaddr_un($to) : pack_sockaddr_in($port, inet_aton($to));

socket(my $s, $abstract ? PF_UNIX : PF_INET, SOCK_STREAM, 0) or die "socket: $!";
if (!$take) {
	connect($s, $at) or die "connect: $!";
	local $/;
	syswrite($s, <STDIN>);
	shutdown($s, 1);
	sysread($s, my $answer, 4096);
	exit 0;
}
bind($s, $at) && listen($s, 8) or die "bind: $!";
syswrite(STDOUT, "listening\n");
close(STDOUT);
while (accept(my $caller, $s)) {
	sysread($caller, my $line, 4096);
	open(my $file, '>>', $log) or die;
	syswrite($file, "takes\n");
}
