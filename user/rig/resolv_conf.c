// SPDX-License-Identifier: Apache-2.0
#include "user/rig/resolv_conf.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "user/rig/rig.h"

#define FILE_NAME "/etc/resolv.conf"
#define SOURCE_FOLDER "/run/sentinel"

static const char text[] =
	"# of sentinel, for the sandboxes of a run\nnameserver " RIG_RESOLVER4 "\n";

/* What is mounted or unmounted on the machine meanwhile shows here; what is here, not there. */
static int move_mounts(struct diag *d)
{
	if (unshare(CLONE_NEWNS))
		return diag_set(d, -errno, NULL, 0, 0, "no mount namespace: %s", strerror(errno));
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL))
		return diag_set(d, -errno, NULL, 0, 0, "can't separate the mounts: %s",
				strerror(errno));
	return 0;
}

/* Read-only, so that no sandbox of root's speaks to the others by it. */
static int mount_over(const char *source)
{
	if (mount(source, FILE_NAME, NULL, MS_BIND, NULL))
		return -errno;
	return mount(NULL, FILE_NAME, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) ? -errno : 0;
}

static int mount_file_of(const char *folder)
{
	char path[64];
	cleanup_fd int fd = -1;
	int err = str_format(path, sizeof(path), "%s/resolv.conf", folder);

	if (err)
		return err;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	err = write_all(fd, text, strlen(text));
	if (!err && fchmod(fd, 0644))
		err = -errno;
	return err ? err : mount_over(path);
}

/*
 * The file is alone in a file system that only its mount keeps: nobody else finds it. It must not
 * be unlinked, since a deleted file can be bound nowhere, and nothing over it: platforms do both.
 */
static int mount_text(void)
{
	char folder[] = SOURCE_FOLDER "/resolv.conf-XXXXXX";
	int err;

	if (mkdir(SOURCE_FOLDER, 0755) && errno != EEXIST)
		return -errno;
	if (!mkdtemp(folder))
		return -errno;
	if (mount("sentinel", folder, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  "size=64k,mode=0755")) {
		err = -errno;
	} else {
		err = mount_file_of(folder);
		(void)umount2(folder, MNT_DETACH);
	}
	(void)rmdir(folder);
	return err;
}

int resolv_conf_of_lane(struct diag *d)
{
	int err = move_mounts(d);

	if (err)
		return err;
	err = mount_text();
	return err ? diag_set(d, err, FILE_NAME, 0, 0, "can't put another in its place: %s",
			      strerror(-err))
		   : 0;
}
