'use strict';
(function () {
	function element(tag, text, parent) {
		var made = document.createElement(tag);
		made.textContent = text;
		if (parent) parent.appendChild(made);
		return made;
	}
	function button(text, action) {
		var made = element('button', text);
		made.type = 'button';
		made.className = 'small';
		made.addEventListener('click', action);
		return made;
	}
	function all(selector, action, within) { Array.from((within || document).querySelectorAll(selector)).forEach(action); }

	/* Tables: sorted by a click on a heading, with cells without a value last, and filtered where they are long. */
	function key(row, column) {
		var cell = row.cells[column];
		if (!cell) return '';
		if (!cell.hasAttribute('data-value')) return cell.textContent;
		var value = cell.getAttribute('data-value');
		return value === '' ? '' : Number(value);
	}
	function compare(a, b) {
		if (typeof a === 'number' && typeof b === 'number') return a - b;
		return String(a).localeCompare(String(b), undefined, {numeric: true});
	}
	function sort(table, head, column) {
		var down = head.getAttribute('aria-sort') === 'ascending', body = table.tBodies[0];
		Array.from(body.rows).map(function (row, index) {
			return {row: row, key: key(row, column), index: index};
		}).sort(function (a, b) {
			if ((a.key === '') !== (b.key === '')) return a.key === '' ? 1 : -1;
			return (down ? -1 : 1) * compare(a.key, b.key) || a.index - b.index;
		}).forEach(function (one) { body.appendChild(one.row); });
		Array.from(table.tHead.rows[0].cells).forEach(function (other) { other.removeAttribute('aria-sort'); });
		head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
	}
	/* What a row leads to is shown and hidden with it. */
	function targets(row) {
		var link = row.querySelector('a[href^="#"]'), found = [row];
		if (!link) return found;
		all('nav a', function (other) { if (other.hash === link.hash) found.push(other.closest('li')); });
		var section = document.getElementById(link.hash.slice(1));
		if (section && section.closest('details')) found.push(section.closest('details'));
		return found;
	}
	function filter(table) {
		var line = document.createElement('p'), label = element('label', 'Filter ', line), input = element('input', '', label);
		var count = element('span', '', line), rows = Array.from(table.tBodies[0].rows);
		line.className = 'filter';
		input.type = 'search';
		count.setAttribute('role', 'status');
		input.addEventListener('input', function () {
			var words = input.value.toLowerCase().split(/\s+/), left = 0;
			rows.forEach(function (row) {
				var text = row.textContent.toLowerCase(), found = words.every(function (word) { return text.indexOf(word) >= 0; });
				targets(row).forEach(function (part) { part.hidden = !found; });
				left += found;
			});
			count.textContent = left + ' of ' + rows.length;
		});
		(table.closest('.box') || table).before(line);
	}
	function tables(within) {
		all('table.sortable', function (table) {
			var rows = table.tBodies[0].rows.length;
			if (rows < 2) return;
			Array.from(table.tHead.rows[0].cells).forEach(function (head, column) {
				var sorter = document.createElement('button');
				sorter.type = 'button';
				while (head.firstChild) sorter.appendChild(head.firstChild);
				head.appendChild(sorter);
				sorter.addEventListener('click', function () { sort(table, head, column); });
			});
			if (table.closest('#results') || (rows > 10 && !table.closest('#machine'))) filter(table);
		}, within);
	}

	function copies(within) {
		all('pre.command, .setting', function (command) {
			var copy = button('copy', function () {
				getSelection().selectAllChildren(command.querySelector('code') || command);
				copy.textContent = document.execCommand('copy') ? 'copied' : 'selected';
			});
			copy.classList.add('copy');
			if (command.tagName === 'PRE') command.prepend(copy);
			else command.before(copy);
		}, within);
	}

	/* A chart that fills the window: the wheel, + and - magnify it, dragging and the arrows move it. */
	function zoom(chart) {
		var dialog = document.createElement('dialog'), svg = chart.cloneNode(true), bar = element('div', '', dialog), last = null;
		var whole = svg.getAttribute('viewBox').split(' ').map(Number), view = whole.slice();
		var name = (chart.querySelector('title, desc') || chart).textContent;
		function show() { svg.setAttribute('viewBox', view.join(' ')); }
		function scale(factor, x, y) {
			view = [view[0] + x * view[2] * (1 - factor), view[1] + y * view[3] * (1 - factor), view[2] * factor, view[3] * factor];
			show();
		}
		function move(x, y) { view[0] += x * view[2]; view[1] += y * view[3]; show(); }
		function reset() { view = whole.slice(); show(); }
		all('[id]', function (part) { part.removeAttribute('id'); }, svg);
		['aria-labelledby', 'aria-describedby'].forEach(function (word) { svg.removeAttribute(word); });
		svg.setAttribute('aria-label', name);
		dialog.setAttribute('aria-label', name);
		[['close', function () { dialog.close(); }], ['whole', reset], ['smaller', function () { scale(1.25, 0.5, 0.5); }],
			['larger', function () { scale(0.8, 0.5, 0.5); }]].forEach(function (one) { bar.appendChild(button(one[0], one[1])); });
		dialog.appendChild(svg);
		svg.addEventListener('wheel', function (event) {
			var box = svg.getBoundingClientRect();
			event.preventDefault();
			scale(event.deltaY > 0 ? 1.15 : 0.87, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
		}, {passive: false});
		svg.addEventListener('pointerdown', function (event) { last = event; svg.setPointerCapture(event.pointerId); });
		svg.addEventListener('pointerup', function () { last = null; });
		svg.addEventListener('pointermove', function (event) {
			var box = svg.getBoundingClientRect();
			if (!last) return;
			move((last.clientX - event.clientX) / box.width, (last.clientY - event.clientY) / box.height);
			last = event;
		});
		dialog.addEventListener('keydown', function (event) {
			var steps = {ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1]}[event.key];
			if (event.key === '+') scale(0.8, 0.5, 0.5);
			else if (event.key === '-') scale(1.25, 0.5, 0.5);
			else if (event.key === '0') reset();
			else if (steps) move(steps[0], steps[1]);
		});
		dialog.addEventListener('close', function () { dialog.remove(); });
		document.body.appendChild(dialog);
		dialog.showModal();
	}
	function zooms(within) {
		all('figure', function (figure) {
			var chart = figure.querySelector('svg');
			if (chart) figure.appendChild(button('zoom', function () { zoom(chart); }));
		}, within);
	}

	/* The section that a link leads to is opened. */
	function unfold() {
		var place = location.hash && document.getElementById(location.hash.slice(1)), part = place;
		while (part && (part = part.parentElement.closest('details'))) part.open = true;
		if (place) place.scrollIntoView();
	}
	addEventListener('hashchange', unfold);
	addEventListener('beforeprint', function () { all('details', function (part) { part.open = true; }); });
	all('nav a, #results a', function (link) {
		link.addEventListener('click', function () { if (link.hash === location.hash) unfold(); });
	});
	/* A page that is still written: a frame reads the file again, and its content replaces this one without a flash. */
	function follow() {
		var frame = null, round = 0;
		function ask() {
			if (frame) frame.remove();
			frame = document.createElement('iframe');
			frame.hidden = true;
			frame.src = location.pathname + '?' + ++round;
			document.body.appendChild(frame);
		}
		var timer = setInterval(ask, 2000);
		addEventListener('message', function (event) {
			var main = document.querySelector('main');
			if (!frame || event.source !== frame.contentWindow || typeof event.data.live !== 'string') return;
			main.innerHTML = event.data.live;
			copies(main);
			zooms(main);
			if (main.querySelector('.ended')) { clearInterval(timer); frame.remove(); }
		});
	}
	if (parent !== window) { /* such a frame */
		parent.postMessage({live: document.querySelector('main').innerHTML}, '*');
		return;
	}
	if (document.querySelector('main.live')) follow();
	tables();
	copies();
	zooms();
	unfold();
})();
