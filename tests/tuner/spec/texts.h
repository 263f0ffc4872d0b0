/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Specifications of four published spaces, each in another style of those that are seen. Apostrophes stand for the
 * quotes of JSON, and ` for an apostrophe. */
#ifndef TESTS_TUNER_SPEC_TEXTS_H
#define TESTS_TUNER_SPEC_TEXTS_H

/* Expressions, Defaults that are not among the values or not valid, members that the schema lacks. */
static const char hotspot_text[] =
	"{'General': {'BenchmarkName': 'hotspot', 'OutputFormat': 'JSON'}, 'ConfigurationSpace': {'TuningParameters': ["
	"{'Name': 'grid_width', 'Type': 'int', 'Values': '[4096]', 'Default': 4096},"
	"{'Name': 'grid_height', 'Type': 'int', 'Values': '[4096]', 'Default': 4096},"
	"{'Name': 'block_size_x', 'Type': 'int', 'Values': '[1, 2, 4, 8, 16] + list(range(32, 1024+1, 32))', 'Default': "
	"256},"
	"{'Name': 'block_size_y', 'Type': 'int', 'Values': '[2**i for i in range(0, 6)]', 'Default': 1},"
	"{'Name': 'tile_size_x', 'Type': 'int', 'Values': '[i for i in range(1, 11)]', 'Default': 1},"
	"{'Name': 'tile_size_y', 'Type': 'int', 'Values': 'list(range(1, 11))', 'Default': 1},"
	"{'Name': 'temporal_tiling_factor', 'Type': 'int', 'Values': 'range(1, 11)', 'Default': 1},"
	"{'Name': 'max_tfactor', 'Type': 'int', 'Values': '[10]', 'Default': 1},"
	"{'Name': 'loop_unroll_factor_t', 'Type': 'int', 'Values': '[i for i in range(1, 10+1)]', 'Default': 2},"
	"{'Name': 'sh_power', 'Type': 'int', 'Values': '[0, 1]', 'Default': 1}],"
	"'Conditions': [{'Expression': 'block_size_x*block_size_y>= 32', 'Parameters': ['block_size_x', 'block_size_y']},"
	"{'Expression': 'temporal_tiling_factor % loop_unroll_factor_t == 0'},"
	"{'Expression': 'block_size_x*block_size_y <= 1024', 'Parameters': ['block_size_x']},"
	"{'Expression': '(block_size_x*tile_size_x+ temporal_tiling_factor * 2) * (block_size_y*tile_size_y+ "
	"temporal_tiling_factor * 2) * (2+sh_power) * 4 <= 49152'}]},"
	"'BenchmarkConfig': {'dataSize': 4096}, 'KernelSpecification': {'Language': 'CUDA', 'KernelName': 'calculate_temp',"
	"'KernelFile': 'hotspot.cu', 'LocalSize': {'X': 'block_size_x', 'Y': 'block_size_y', 'Z': '1'}, 'ProblemSize': "
	"[4096, 4096],"
	"'GridDivX': ['block_size_x', 'tile_size_x'], 'Stream': null, 'Arguments': [{'Name': 'power', 'Type': 'float', "
	"'Size': 9}]}}";

/* JSON lists, the logical operators of C, no General. */
static const char convolution_text[] =
	"{'ConfigurationSpace': {'TuningParameters': ["
	"{'Name': 'block_size_x', 'Type': 'int', 'Values': [16,32,48,64,80,96,112,128,144,160,176,192,208,224,240,256], "
	"'Default': [16]},"
	"{'Name': 'block_size_y', 'Values': [1, 2, 4, 8, 16], 'Default': '16'},"
	"{'Name': 'tile_size_x', 'Type': 'int', 'Values': '(1, 2, 3, 4)'}, {'Name': 'tile_size_y', 'Values': [1.0, 2, 3, "
	"4]},"
	"{'Name': 'read_only', 'Type': 'bool', 'Values': '[False, True]', 'Default': 'False'},"
	"{'Name': 'use_padding', 'Type': 'bool', 'Values': [false, true], 'Default': true},"
	"{'Name': 'use_shmem', 'Type': 'int', 'Values': '[0, 1, 1, 0]', 'Default': 1},"
	"{'Name': 'use_cmem', 'Type': 'int', 'Values': 1, 'Default': null},"
	"{'Name': 'filter_height', 'Type': 'int', 'Values': '[15]'}, {'Name': 'filter_width', 'Type': 'int', 'Values': "
	"'[15]*1'}],"
	"'Conditions': [{'Expression': '!use_padding || block_size_x % 32 != 0'}, {'Expression': "
	"'block_size_x*block_size_y<=1024'},"
	"{'Expression': '!(use_padding == True && use_shmem == False)'},"
	"{'Expression': 'use_shmem == 0 or (((block_size_x*tile_size_x+(filter_width-1)))*((block_size_y*tile_size_y+"
	"(filter_height-1)))) < 12*1024'}]},"
	"'KernelSpecification': {'Language': 'CUDA', 'KernelName': 'convolution_kernel'}}";

/* Chained comparisons, a set, no KernelSpecification. */
static const char dedispersion_text[] =
	"{'ConfigurationSpace': {'TuningParameters': ["
	"{'Name': 'block_size_x', 'Type': 'uint', 'Values': 'sorted({2**i for i in range(6)})', 'Default': 16},"
	"{'Name': 'block_size_y', 'Type': 'uint', 'Values': '[8*i for i in range(4, 33)]', 'Default': 32},"
	"{'Name': 'block_size_z', 'Values': '[1]'}, {'Name': 'tile_size_x', 'Values': '{1, 2, 3} + [4]'},"
	"{'Name': 'tile_size_y', 'Values': 'list(i for i in range(1, 99) if i <= 8)', 'Default': 1},"
	"{'Name': 'tile_stride_x', 'Values': '[0, 1]', 'Default': 1}, {'Name': 'tile_stride_y', 'Values': '[0, 1]', "
	"'Default': 1},"
	"{'Name': 'loop_unroll_factor_channel', 'Values': '[0]', 'Default': 0}],"
	"'Conditions': ['32 <= block_size_x * block_size_y <= 1024', {'Expression': 'tile_size_x > 1 or tile_stride_x == "
	"0'},"
	"{'Expression': 'not (tile_size_y <= 1 and tile_stride_y != 0)'}]}}";

static const char gemm_text[] =
	"{'ConfigurationSpace': {'TuningParameters': [{'Name': 'GEMMK', 'Type': 'int', 'Values': '[0]', 'Default': [0]},"
	"{'Name': 'MWG', 'Values': '[16, 32, 64, 128]', 'Default': 64}, {'Name': 'NWG', 'Values': '[16, 32] + [64, 128]', "
	"'Default': 64},"
	"{'Name': 'KWG', 'Values': '[16, 32]', 'Default': 32}, {'Name': 'MDIMC', 'Values': '[8, 16, 32]', 'Default': 32},"
	"{'Name': 'NDIMC', 'Values': '[8, 16, 32]', 'Default': 32}, {'Name': 'MDIMA', 'Values': '[8, 16, 32]', 'Default': "
	"32},"
	"{'Name': 'NDIMB', 'Values': '[8, 16, 32]', 'Default': 32}, {'Name': 'KWI', 'Values': '[2]', 'Default': 2},"
	"{'Name': 'VWM', 'Values': '[1, 2, 4, 8]', 'Default': 2}, {'Name': 'VWN', 'Values': '[1, 2, 4, 8]', 'Default': 2},"
	"{'Name': 'STRM', 'Values': '[0, 1]', 'Default': 1}, {'Name': 'STRN', 'Values': '[0, 1]', 'Default': 1},"
	"{'Name': 'SA', 'Values': '[0, 1]', 'Default': 1}, {'Name': 'SB', 'Values': '[0, 1]', 'Default': 1},"
	"{'Name': 'KREG', 'Values': '[1]', 'Default': 1}, {'Name': 'PRECISION', 'Values': '[32]', 'Default': 32}],"
	"'Conditions': [{'Expression': 'KWG % KWI == 0'}, {'Expression': 'MWG % (MDIMC * VWM) == 0'},"
	"{'Expression': 'NWG % (NDIMC * VWN) == 0'}, {'Expression': 'MWG % (MDIMA * VWM) == 0'},"
	"{'Expression': 'NWG % (NDIMB * VWN) == 0'}, {'Expression': 'KWG % ((MDIMC * NDIMC)/MDIMA) == 0'},"
	"{'Expression': 'KWG % ((MDIMC * NDIMC)/NDIMB) == 0'},"
	"{'Expression': 'not (MWG == 128 and NWG == 128 and MDIMC == 8 and NDIMC == 8)'}]},"
	"'KernelSpecification': {'Language': 'OpenCL', 'BenchmarkName': 'gemm', 'KernelName': 'Xgemm'}}";

#endif
