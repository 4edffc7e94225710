# package.mk: what is given to others, in build/dist. tools/package does the work.
#
#   make wheel                  for pip, on any Linux with glibc 2.28 or newer, for this kind of machine
#   make wheel ARCH=x86_64      for another kind; ARCH=all for both
#   make dist                   the tarball with the program, the source release, the list of libraries (SBOM)
#   make wasm                   tacho.html, the static site and the package for npm: tacho in a browser and in node
#   make deb                    the Debian package; DEB_MAINTAINER='NAME <ADDRESS>' is who answers for it

export DEB_MAINTAINER
.PHONY: wheel dist deb wasm
wasm: web-packages
wheel dist deb wasm:
	@tools/setup package
	@tools/package $@ $(ARCH)
