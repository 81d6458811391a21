/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "cli/command.h"

enum exit_status exit_of_error(int err)
{
	switch (-err) {
	case ESRCH:
	case ENOENT:
		return EXIT_NO_TARGET;
	case EPERM:
	case EACCES:
	case ENOTSUP:
	case ENOSYS:
		return EXIT_RIGHTS;
	default:
		return EXIT_RUNTIME;
	}
}
