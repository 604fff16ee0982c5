#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Takes what is sent by UDP or TCP to one address and port.
#
#   anyip.pl swallow|answer|credentials|forbid|relay ADDRESS PORT LOG
#
# swallow says nothing; answer says what looks like the far side's answer; credentials says it as a
# metadata service would, forbid says as one (or a proxy) that it may not; relay sends each datagram on
# by descriptor 3, 0.8 s later. Each is a line in LOG.
use strict;
use warnings;
use Socket;

my ($mode, $address, $port, $log) = @ARGV;
my $here = pack_sockaddr_in($port, inet_aton($address));

sub note {
	open(my $file, '>>', $log) or die;
	syswrite($file, "$mode\n");
	close($file);
}

sub plausible {
	return 'SENTINEL-ANSWER ' . join('', map { sprintf '%02x', rand 256 } 1 .. 32) . "\n";
}

sub http {
	my ($status, $body) = @_;

	return "HTTP/1.1 $status\r\nServer: EC2ws\r\nContent-Type: text/plain\r\nContent-Length: " .
		length($body) . "\r\nConnection: close\r\n\r\n$body";
}

# What a stream is answered with.
sub reply {
	chomp(my $digits = plausible());
	return plausible() if $mode eq 'answer';
	return http('200 OK', qq({"Code":"Success","Token":"$digits"}\n)) if $mode eq 'credentials';
	return http('403 Forbidden', "Forbidden\n") if $mode eq 'forbid';
	return '';
}

my ($datagrams, $streams, $far);
socket($datagrams, PF_INET, SOCK_DGRAM, 0) && bind($datagrams, $here) or die;
socket($streams, PF_INET, SOCK_STREAM, 0) && bind($streams, $here) && listen($streams, 8) or die;
$mode ne 'relay' or open($far, '+>&=', 3) or die;
syswrite(STDOUT, "listening\n");
close(STDOUT);

sub take_datagram {
	my $from = recv($datagrams, my $datagram, 65536, 0);

	return if !defined($from);
	note();
	send($datagrams, plausible(), 0, $from) if $mode eq 'answer';
	select(undef, undef, undef, 0.8), syswrite($far, $datagram) if $mode eq 'relay';
}

sub take_connection {
	accept(my $client, $streams) or return;
	note();
	sysread($client, my $line, 4096);
	syswrite($client, reply());
}

while (1) {
	my $any = '';

	vec($any, fileno($_), 1) = 1 for $datagrams, $streams;
	select($any, undef, undef, undef) > 0 or next;
	take_datagram() if vec($any, fileno($datagrams), 1);
	take_connection() if vec($any, fileno($streams), 1);
}
