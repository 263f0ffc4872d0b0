'use strict';
(function () {
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
	/* Cells without a value stay last in both directions. */
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
	document.querySelectorAll('table.sortable').forEach(function (table) {
		if (table.tBodies[0].rows.length < 2) return;
		Array.from(table.tHead.rows[0].cells).forEach(function (head, column) {
			var button = document.createElement('button');
			button.type = 'button';
			while (head.firstChild) button.appendChild(head.firstChild);
			head.appendChild(button);
			button.addEventListener('click', function () { sort(table, head, column); });
		});
	});
	document.querySelectorAll('pre.command').forEach(function (command) {
		var button = document.createElement('button');
		button.type = 'button';
		button.className = 'copy';
		button.textContent = 'copy';
		button.addEventListener('click', function () {
			getSelection().selectAllChildren(command.querySelector('code'));
			var done = document.execCommand('copy');
			button.textContent = done ? 'copied' : 'selected';
		});
		command.prepend(button);
	});
	/* A line is thin, and a finger has no tooltip: the line nearest to the pointer is thick and has its text below. */
	function nearest(svg, x, y) {
		for (var radius = 0; radius <= 8; radius += 2)
			for (var i = 0; i < (radius ? 8 : 1); i++) {
				var at = document.elementFromPoint(x + radius * Math.cos(i * Math.PI / 4), y + radius * Math.sin(i * Math.PI / 4));
				if (at && at.tagName === 'path' && svg.contains(at)) return at;
			}
		return null;
	}
	document.querySelectorAll('svg.parallel').forEach(function (svg) {
		var text = document.createElement('p'), shown = null;
		text.className = 'note pointed';
		text.setAttribute('aria-live', 'polite');
		svg.after(text);
		svg.querySelectorAll('path').forEach(function (path) {
			path.setAttribute('aria-label', path.querySelector('title').textContent);
			path.querySelector('title').remove();
		});
		function show(path) {
			if (path === shown) return;
			if (shown) shown.classList.remove('shown');
			if (path) path.classList.add('shown');
			text.textContent = path ? path.getAttribute('aria-label') : '';
			shown = path;
		}
		function point(event) { show(nearest(svg, event.clientX, event.clientY)); }
		svg.addEventListener('pointermove', point);
		svg.addEventListener('pointerdown', point);
		svg.addEventListener('pointerleave', function (event) { if (event.pointerType === 'mouse') show(null); });
	});
	addEventListener('beforeprint', function () {
		document.querySelectorAll('details').forEach(function (part) { part.open = true; });
	});
})();
