/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_IMAGE_FILE_H
#define JVMSCOPE_IMAGE_FILE_H

struct elffile;
struct image;

/* The file behind an image, for this folder only. */
const struct elffile *image_file(const struct image *image);

#endif
