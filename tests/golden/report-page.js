// SPDX-License-Identifier: Apache-2.0
// What must hold of a report in a browser; browser.pl evaluates it and prints what it answers.
(async () => {
	const all = [...document.querySelectorAll('*')];
	const rgb = (text) => {
		const n = text.match(/[\d.]+/g).map(Number);
		return n.length === 4 ? n : [...n, 1];
	};
	const luminance = ([r, g, b]) => { // WCAG 2.1
		const part = (v) => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
		return .2126 * part(r) + .7152 * part(g) + .0722 * part(b);
	};
	const background = (e) => {
		for (; e; e = e.parentElement) {
			const color = rgb(getComputedStyle(e).backgroundColor);
			if (color[3])
				return color;
		}
		return [255, 255, 255, 1];
	};
	const contrast = (e) => {
		const a = luminance(rgb(getComputedStyle(e).color)), b = luminance(background(e));
		return (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
	};
	const has_text = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
	// not innerWidth: a phone zooms out, and that grows
	const wide = () => document.scrollingElement.scrollWidth - document.documentElement.clientWidth;
	const frames = () => new Promise((done) =>
		requestAnimationFrame(() => requestAnimationFrame(done)));

	const closed = wide();
	// the first cell of the matrix leads to its evidence
	const link = document.querySelector('.matrix td a'), cell = document.querySelector('.cell');
	let opened = null;
	if (link) {
		location.hash = link.getAttribute('href');
		await frames();
		opened = document.querySelector(link.getAttribute('href')).closest('details').open;
	}
	const few = all.length < 20000; // contrast and layout of everything takes its time
	if (few)
		document.querySelectorAll('details').forEach((d) => { d.open = true; });
	else if (cell)
		cell.querySelectorAll('details').forEach((d) => { d.open = true; });
	await frames();
	const faint = !few ? [] : all.filter((e) => document.body.contains(e) && has_text(e) &&
		!e.closest('svg') && contrast(e) < 4.5).map((e) => `${e.tagName}.${e.className}`);
	const attributes = all.flatMap((e) => [...e.attributes]);

	return {
		overflow: Math.max(closed, wide()),
		opened,
		faint: [...new Set(faint)],
		foreign: [...new Set(all.map((e) => e.localName).filter((n) =>
			/^(script|img|image|iframe|object|embed|link|base|form|input|button|video|audio|use|a:.*)$/
				.test(n)))],
		handlers: attributes.filter((a) => /^on|^style$|^src/.test(a.name)).length,
		links: attributes.filter((a) => a.name === 'href' && !a.value.startsWith('#')).length,
		dangling: all.filter((e) => e.localName === 'a' && e.hasAttribute('href') &&
			!document.querySelector(e.getAttribute('href'))).length,
		// <script>alert(1)</script>, read as text
		text: document.body.textContent.split('<script>alert(1)</script>').length - 1,
		entity: document.body.textContent.includes("'&lt;b>"),
		title: document.title,
		h1: document.querySelector('h1').textContent,
		scheme: getComputedStyle(document.body).backgroundColor,
		scopes: [...document.querySelectorAll('th')].every((e) => e.scope),
	};
})()
