/* SPDX-License-Identifier: Apache-2.0
 *
 * Architectures of timm 1.0.31 and the arguments of their classes.  Made by make_timm_rows.py.
 */
#include "hf/timm.h"

const struct vram_timm_row vram_timm_rows[] = {
    {"beit_base_patch16_224", "Beit",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"mlp_ratio\":4,\"use_abs_pos_emb"
     "\":false,\"use_rel_pos_bias\":true,\"init_values\":0.1,\"img_size\":224}"},
    {"beit_base_patch16_384", "Beit",
     "{\"img_size\":384,\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"use_abs_pos_em"
     "b\":false,\"use_rel_pos_bias\":true,\"init_values\":0.1}"},
    {"beit_large_patch16_224", "Beit",
     "{\"patch_size\":16,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"use_abs_pos_emb\":false,\"use_"
     "rel_pos_bias\":true,\"init_values\":1e-05,\"img_size\":224}"},
    {"beit_large_patch16_384", "Beit",
     "{\"img_size\":384,\"patch_size\":16,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"use_abs_pos_e"
     "mb\":false,\"use_rel_pos_bias\":true,\"init_values\":1e-05}"},
    {"beit_large_patch16_512", "Beit",
     "{\"img_size\":512,\"patch_size\":16,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"use_abs_pos_e"
     "mb\":false,\"use_rel_pos_bias\":true,\"init_values\":1e-05}"},
    {"beitv2_base_patch16_224", "Beit",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"mlp_ratio\":4,\"use_abs_pos_emb"
     "\":false,\"use_rel_pos_bias\":true,\"init_values\":1e-05,\"img_size\":224}"},
    {"beitv2_large_patch16_224", "Beit",
     "{\"patch_size\":16,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"use_abs_pos_emb\":false,\"use_"
     "rel_pos_bias\":true,\"init_values\":1e-05,\"img_size\":224}"},
    {"convnext_atto", "ConvNeXt",
     "{\"depths\":[2,2,6,2],\"dims\":[40,80,160,320],\"conv_mlp\":true}"},
    {"convnext_base", "ConvNeXt",
     "{\"depths\":[3,3,27,3],\"dims\":[128,256,512,1024]}"},
    {"convnext_femto", "ConvNeXt",
     "{\"depths\":[2,2,6,2],\"dims\":[48,96,192,384],\"conv_mlp\":true}"},
    {"convnext_large", "ConvNeXt",
     "{\"depths\":[3,3,27,3],\"dims\":[192,384,768,1536]}"},
    {"convnext_nano", "ConvNeXt",
     "{\"depths\":[2,2,8,2],\"dims\":[80,160,320,640],\"conv_mlp\":true}"},
    {"convnext_pico", "ConvNeXt",
     "{\"depths\":[2,2,6,2],\"dims\":[64,128,256,512],\"conv_mlp\":true}"},
    {"convnext_small", "ConvNeXt",
     "{\"depths\":[3,3,27,3],\"dims\":[96,192,384,768]}"},
    {"convnext_tiny", "ConvNeXt",
     "{\"depths\":[3,3,9,3],\"dims\":[96,192,384,768]}"},
    {"convnext_xlarge", "ConvNeXt",
     "{\"depths\":[3,3,27,3],\"dims\":[256,512,1024,2048]}"},
    {"deit3_base_patch16_224", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"no_embed_class\":true,\"init_va"
     "lues\":1e-06,\"img_size\":224}"},
    {"deit3_base_patch16_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"no_embed_class\":true,\"init_va"
     "lues\":1e-06,\"img_size\":384}"},
    {"deit3_huge_patch14_224", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1280,\"depth\":32,\"num_heads\":16,\"no_embed_class\":true,\"init_v"
     "alues\":1e-06,\"img_size\":224}"},
    {"deit3_large_patch16_224", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"no_embed_class\":true,\"init_v"
     "alues\":1e-06,\"img_size\":224}"},
    {"deit3_large_patch16_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"no_embed_class\":true,\"init_v"
     "alues\":1e-06,\"img_size\":384}"},
    {"deit3_medium_patch16_224", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":512,\"depth\":12,\"num_heads\":8,\"no_embed_class\":true,\"init_val"
     "ues\":1e-06,\"img_size\":224}"},
    {"deit3_small_patch16_224", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":384,\"depth\":12,\"num_heads\":6,\"no_embed_class\":true,\"init_val"
     "ues\":1e-06,\"img_size\":224}"},
    {"deit3_small_patch16_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":384,\"depth\":12,\"num_heads\":6,\"no_embed_class\":true,\"init_val"
     "ues\":1e-06,\"img_size\":384}"},
    {"deit_base_distilled_patch16_224", "VisionTransformerDistilled",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"img_size\":224}"},
    {"deit_base_distilled_patch16_384", "VisionTransformerDistilled",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"img_size\":384}"},
    {"deit_base_patch16_224", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"img_size\":224}"},
    {"deit_base_patch16_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"img_size\":384}"},
    {"deit_small_distilled_patch16_224", "VisionTransformerDistilled",
     "{\"patch_size\":16,\"embed_dim\":384,\"depth\":12,\"num_heads\":6,\"img_size\":224}"},
    {"deit_small_patch16_224", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":384,\"depth\":12,\"num_heads\":6,\"img_size\":224}"},
    {"deit_tiny_distilled_patch16_224", "VisionTransformerDistilled",
     "{\"patch_size\":16,\"embed_dim\":192,\"depth\":12,\"num_heads\":3,\"img_size\":224}"},
    {"deit_tiny_patch16_224", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":192,\"depth\":12,\"num_heads\":3,\"img_size\":224}"},
    {"efficientnet_b0", "EfficientNet",
     "{\"stem\":32,\"act\":\"silu\",\"stages\":[[[\"ds\",32,16,3,1,8,\"silu\",false]],[[\"ir\",96,24,3,2,4"
     ",\"silu\",false],[\"ir\",144,24,3,1,6,\"silu\",true]],[[\"ir\",144,40,5,2,6,\"silu\",false],[\"ir\","
     "240,40,5,1,10,\"silu\",true]],[[\"ir\",240,80,3,2,10,\"silu\",false],[\"ir\",480,80,3,1,20,\"silu\","
     "true],[\"ir\",480,80,3,1,20,\"silu\",true]],[[\"ir\",480,112,5,1,20,\"silu\",false],[\"ir\",672,112,"
     "5,1,28,\"silu\",true],[\"ir\",672,112,5,1,28,\"silu\",true]],[[\"ir\",672,192,5,2,28,\"silu\",false]"
     ",[\"ir\",1152,192,5,1,48,\"silu\",true],[\"ir\",1152,192,5,1,48,\"silu\",true],[\"ir\",1152,192,5,1,"
     "48,\"silu\",true]],[[\"ir\",1152,320,3,1,48,\"silu\",false]]],\"head\":1280,\"gate\":\"sigmoid\",\"s"
     "queeze_act\":\"silu\"}"},
    {"efficientnet_b0_gn", "EfficientNet",
     "{\"stem\":32,\"act\":\"silu\",\"stages\":[[[\"ds\",32,16,3,1,8,\"silu\",false]],[[\"ir\",96,24,3,2,4"
     ",\"silu\",false],[\"ir\",144,24,3,1,6,\"silu\",true]],[[\"ir\",144,40,5,2,6,\"silu\",false],[\"ir\","
     "240,40,5,1,10,\"silu\",true]],[[\"ir\",240,80,3,2,10,\"silu\",false],[\"ir\",480,80,3,1,20,\"silu\","
     "true],[\"ir\",480,80,3,1,20,\"silu\",true]],[[\"ir\",480,112,5,1,20,\"silu\",false],[\"ir\",672,112,"
     "5,1,28,\"silu\",true],[\"ir\",672,112,5,1,28,\"silu\",true]],[[\"ir\",672,192,5,2,28,\"silu\",false]"
     ",[\"ir\",1152,192,5,1,48,\"silu\",true],[\"ir\",1152,192,5,1,48,\"silu\",true],[\"ir\",1152,192,5,1,"
     "48,\"silu\",true]],[[\"ir\",1152,320,3,1,48,\"silu\",false]]],\"head\":1280,\"gate\":\"sigmoid\",\"s"
     "queeze_act\":\"silu\"}"},
    {"efficientnet_b1", "EfficientNet",
     "{\"stem\":32,\"act\":\"silu\",\"stages\":[[[\"ds\",32,16,3,1,8,\"silu\",false],[\"ds\",16,16,3,1,4,"
     "\"silu\",true]],[[\"ir\",96,24,3,2,4,\"silu\",false],[\"ir\",144,24,3,1,6,\"silu\",true],[\"ir\",144,"
     "24,3,1,6,\"silu\",true]],[[\"ir\",144,40,5,2,6,\"silu\",false],[\"ir\",240,40,5,1,10,\"silu\",true],"
     "[\"ir\",240,40,5,1,10,\"silu\",true]],[[\"ir\",240,80,3,2,10,\"silu\",false],[\"ir\",480,80,3,1,20,"
     "\"silu\",true],[\"ir\",480,80,3,1,20,\"silu\",true],[\"ir\",480,80,3,1,20,\"silu\",true]],[[\"ir\",48"
     "0,112,5,1,20,\"silu\",false],[\"ir\",672,112,5,1,28,\"silu\",true],[\"ir\",672,112,5,1,28,\"silu\",t"
     "rue],[\"ir\",672,112,5,1,28,\"silu\",true]],[[\"ir\",672,192,5,2,28,\"silu\",false],[\"ir\",1152,192"
     ",5,1,48,\"silu\",true],[\"ir\",1152,192,5,1,48,\"silu\",true],[\"ir\",1152,192,5,1,48,\"silu\",true]"
     ",[\"ir\",1152,192,5,1,48,\"silu\",true]],[[\"ir\",1152,320,3,1,48,\"silu\",false],[\"ir\",1920,320,3"
     ",1,80,\"silu\",true]]],\"head\":1280,\"gate\":\"sigmoid\",\"squeeze_act\":\"silu\"}"},
    {"efficientnet_b2", "EfficientNet",
     "{\"stem\":32,\"act\":\"silu\",\"stages\":[[[\"ds\",32,16,3,1,8,\"silu\",false],[\"ds\",16,16,3,1,4,"
     "\"silu\",true]],[[\"ir\",96,24,3,2,4,\"silu\",false],[\"ir\",144,24,3,1,6,\"silu\",true],[\"ir\",144,"
     "24,3,1,6,\"silu\",true]],[[\"ir\",144,48,5,2,6,\"silu\",false],[\"ir\",288,48,5,1,12,\"silu\",true],"
     "[\"ir\",288,48,5,1,12,\"silu\",true]],[[\"ir\",288,88,3,2,12,\"silu\",false],[\"ir\",528,88,3,1,22,"
     "\"silu\",true],[\"ir\",528,88,3,1,22,\"silu\",true],[\"ir\",528,88,3,1,22,\"silu\",true]],[[\"ir\",52"
     "8,120,5,1,22,\"silu\",false],[\"ir\",720,120,5,1,30,\"silu\",true],[\"ir\",720,120,5,1,30,\"silu\",t"
     "rue],[\"ir\",720,120,5,1,30,\"silu\",true]],[[\"ir\",720,208,5,2,30,\"silu\",false],[\"ir\",1248,208"
     ",5,1,52,\"silu\",true],[\"ir\",1248,208,5,1,52,\"silu\",true],[\"ir\",1248,208,5,1,52,\"silu\",true]"
     ",[\"ir\",1248,208,5,1,52,\"silu\",true]],[[\"ir\",1248,352,3,1,52,\"silu\",false],[\"ir\",2112,352,3"
     ",1,88,\"silu\",true]]],\"head\":1408,\"gate\":\"sigmoid\",\"squeeze_act\":\"silu\"}"},
    {"efficientnet_b3", "EfficientNet",
     "{\"stem\":40,\"act\":\"silu\",\"stages\":[[[\"ds\",40,24,3,1,10,\"silu\",false],[\"ds\",24,24,3,1,6,"
     "\"silu\",true]],[[\"ir\",144,32,3,2,6,\"silu\",false],[\"ir\",192,32,3,1,8,\"silu\",true],[\"ir\",19"
     "2,32,3,1,8,\"silu\",true]],[[\"ir\",192,48,5,2,8,\"silu\",false],[\"ir\",288,48,5,1,12,\"silu\",true"
     "],[\"ir\",288,48,5,1,12,\"silu\",true]],[[\"ir\",288,96,3,2,12,\"silu\",false],[\"ir\",576,96,3,1,24"
     ",\"silu\",true],[\"ir\",576,96,3,1,24,\"silu\",true],[\"ir\",576,96,3,1,24,\"silu\",true],[\"ir\",57"
     "6,96,3,1,24,\"silu\",true]],[[\"ir\",576,136,5,1,24,\"silu\",false],[\"ir\",816,136,5,1,34,\"silu\","
     "true],[\"ir\",816,136,5,1,34,\"silu\",true],[\"ir\",816,136,5,1,34,\"silu\",true],[\"ir\",816,136,5,"
     "1,34,\"silu\",true]],[[\"ir\",816,232,5,2,34,\"silu\",false],[\"ir\",1392,232,5,1,58,\"silu\",true],"
     "[\"ir\",1392,232,5,1,58,\"silu\",true],[\"ir\",1392,232,5,1,58,\"silu\",true],[\"ir\",1392,232,5,1,5"
     "8,\"silu\",true],[\"ir\",1392,232,5,1,58,\"silu\",true]],[[\"ir\",1392,384,3,1,58,\"silu\",false],["
     "\"ir\",2304,384,3,1,96,\"silu\",true]]],\"head\":1536,\"gate\":\"sigmoid\",\"squeeze_act\":\"silu\"}"},
    {"efficientnet_b3_gn", "EfficientNet",
     "{\"stem\":48,\"act\":\"silu\",\"stages\":[[[\"ds\",48,32,3,1,12,\"silu\",false],[\"ds\",32,32,3,1,8,"
     "\"silu\",true]],[[\"ir\",192,32,3,2,8,\"silu\",false],[\"ir\",192,32,3,1,8,\"silu\",true],[\"ir\",19"
     "2,32,3,1,8,\"silu\",true]],[[\"ir\",192,48,5,2,8,\"silu\",false],[\"ir\",288,48,5,1,12,\"silu\",true"
     "],[\"ir\",288,48,5,1,12,\"silu\",true]],[[\"ir\",288,96,3,2,12,\"silu\",false],[\"ir\",576,96,3,1,24"
     ",\"silu\",true],[\"ir\",576,96,3,1,24,\"silu\",true],[\"ir\",576,96,3,1,24,\"silu\",true],[\"ir\",57"
     "6,96,3,1,24,\"silu\",true]],[[\"ir\",576,128,5,1,24,\"silu\",false],[\"ir\",768,128,5,1,32,\"silu\","
     "true],[\"ir\",768,128,5,1,32,\"silu\",true],[\"ir\",768,128,5,1,32,\"silu\",true],[\"ir\",768,128,5,"
     "1,32,\"silu\",true]],[[\"ir\",768,224,5,2,32,\"silu\",false],[\"ir\",1344,224,5,1,56,\"silu\",true],"
     "[\"ir\",1344,224,5,1,56,\"silu\",true],[\"ir\",1344,224,5,1,56,\"silu\",true],[\"ir\",1344,224,5,1,5"
     "6,\"silu\",true],[\"ir\",1344,224,5,1,56,\"silu\",true]],[[\"ir\",1344,384,3,1,56,\"silu\",false],["
     "\"ir\",2304,384,3,1,96,\"silu\",true]]],\"head\":1536,\"gate\":\"sigmoid\",\"squeeze_act\":\"silu\"}"},
    {"efficientnet_b4", "EfficientNet",
     "{\"stem\":48,\"act\":\"silu\",\"stages\":[[[\"ds\",48,24,3,1,12,\"silu\",false],[\"ds\",24,24,3,1,6,"
     "\"silu\",true]],[[\"ir\",144,32,3,2,6,\"silu\",false],[\"ir\",192,32,3,1,8,\"silu\",true],[\"ir\",19"
     "2,32,3,1,8,\"silu\",true],[\"ir\",192,32,3,1,8,\"silu\",true]],[[\"ir\",192,56,5,2,8,\"silu\",false]"
     ",[\"ir\",336,56,5,1,14,\"silu\",true],[\"ir\",336,56,5,1,14,\"silu\",true],[\"ir\",336,56,5,1,14,\"s"
     "ilu\",true]],[[\"ir\",336,112,3,2,14,\"silu\",false],[\"ir\",672,112,3,1,28,\"silu\",true],[\"ir\",6"
     "72,112,3,1,28,\"silu\",true],[\"ir\",672,112,3,1,28,\"silu\",true],[\"ir\",672,112,3,1,28,\"silu\",t"
     "rue],[\"ir\",672,112,3,1,28,\"silu\",true]],[[\"ir\",672,160,5,1,28,\"silu\",false],[\"ir\",960,160,"
     "5,1,40,\"silu\",true],[\"ir\",960,160,5,1,40,\"silu\",true],[\"ir\",960,160,5,1,40,\"silu\",true],["
     "\"ir\",960,160,5,1,40,\"silu\",true],[\"ir\",960,160,5,1,40,\"silu\",true]],[[\"ir\",960,272,5,2,40,"
     "\"silu\",false],[\"ir\",1632,272,5,1,68,\"silu\",true],[\"ir\",1632,272,5,1,68,\"silu\",true],[\"ir\""
     ",1632,272,5,1,68,\"silu\",true],[\"ir\",1632,272,5,1,68,\"silu\",true],[\"ir\",1632,272,5,1,68,\"sil"
     "u\",true],[\"ir\",1632,272,5,1,68,\"silu\",true],[\"ir\",1632,272,5,1,68,\"silu\",true]],[[\"ir\",16"
     "32,448,3,1,68,\"silu\",false],[\"ir\",2688,448,3,1,112,\"silu\",true]]],\"head\":1792,\"gate\":\"sig"
     "moid\",\"squeeze_act\":\"silu\"}"},
    {"efficientnet_b5", "EfficientNet",
     "{\"stem\":48,\"act\":\"silu\",\"stages\":[[[\"ds\",48,24,3,1,12,\"silu\",false],[\"ds\",24,24,3,1,6,"
     "\"silu\",true],[\"ds\",24,24,3,1,6,\"silu\",true]],[[\"ir\",144,40,3,2,6,\"silu\",false],[\"ir\",240"
     ",40,3,1,10,\"silu\",true],[\"ir\",240,40,3,1,10,\"silu\",true],[\"ir\",240,40,3,1,10,\"silu\",true],"
     "[\"ir\",240,40,3,1,10,\"silu\",true]],[[\"ir\",240,64,5,2,10,\"silu\",false],[\"ir\",384,64,5,1,16,"
     "\"silu\",true],[\"ir\",384,64,5,1,16,\"silu\",true],[\"ir\",384,64,5,1,16,\"silu\",true],[\"ir\",384,"
     "64,5,1,16,\"silu\",true]],[[\"ir\",384,128,3,2,16,\"silu\",false],[\"ir\",768,128,3,1,32,\"silu\",tr"
     "ue],[\"ir\",768,128,3,1,32,\"silu\",true],[\"ir\",768,128,3,1,32,\"silu\",true],[\"ir\",768,128,3,1,"
     "32,\"silu\",true],[\"ir\",768,128,3,1,32,\"silu\",true],[\"ir\",768,128,3,1,32,\"silu\",true]],[[\"i"
     "r\",768,176,5,1,32,\"silu\",false],[\"ir\",1056,176,5,1,44,\"silu\",true],[\"ir\",1056,176,5,1,44,\""
     "silu\",true],[\"ir\",1056,176,5,1,44,\"silu\",true],[\"ir\",1056,176,5,1,44,\"silu\",true],[\"ir\",1"
     "056,176,5,1,44,\"silu\",true],[\"ir\",1056,176,5,1,44,\"silu\",true]],[[\"ir\",1056,304,5,2,44,\"sil"
     "u\",false],[\"ir\",1824,304,5,1,76,\"silu\",true],[\"ir\",1824,304,5,1,76,\"silu\",true],[\"ir\",182"
     "4,304,5,1,76,\"silu\",true],[\"ir\",1824,304,5,1,76,\"silu\",true],[\"ir\",1824,304,5,1,76,\"silu\","
     "true],[\"ir\",1824,304,5,1,76,\"silu\",true],[\"ir\",1824,304,5,1,76,\"silu\",true],[\"ir\",1824,304"
     ",5,1,76,\"silu\",true]],[[\"ir\",1824,512,3,1,76,\"silu\",false],[\"ir\",3072,512,3,1,128,\"silu\",t"
     "rue],[\"ir\",3072,512,3,1,128,\"silu\",true]]],\"head\":2048,\"gate\":\"sigmoid\",\"squeeze_act\":\""
     "silu\"}"},
    {"efficientnet_b6", "EfficientNet",
     "{\"stem\":56,\"act\":\"silu\",\"stages\":[[[\"ds\",56,32,3,1,14,\"silu\",false],[\"ds\",32,32,3,1,8,"
     "\"silu\",true],[\"ds\",32,32,3,1,8,\"silu\",true]],[[\"ir\",192,40,3,2,8,\"silu\",false],[\"ir\",240"
     ",40,3,1,10,\"silu\",true],[\"ir\",240,40,3,1,10,\"silu\",true],[\"ir\",240,40,3,1,10,\"silu\",true],"
     "[\"ir\",240,40,3,1,10,\"silu\",true],[\"ir\",240,40,3,1,10,\"silu\",true]],[[\"ir\",240,72,5,2,10,\""
     "silu\",false],[\"ir\",432,72,5,1,18,\"silu\",true],[\"ir\",432,72,5,1,18,\"silu\",true],[\"ir\",432,"
     "72,5,1,18,\"silu\",true],[\"ir\",432,72,5,1,18,\"silu\",true],[\"ir\",432,72,5,1,18,\"silu\",true]],"
     "[[\"ir\",432,144,3,2,18,\"silu\",false],[\"ir\",864,144,3,1,36,\"silu\",true],[\"ir\",864,144,3,1,36"
     ",\"silu\",true],[\"ir\",864,144,3,1,36,\"silu\",true],[\"ir\",864,144,3,1,36,\"silu\",true],[\"ir\","
     "864,144,3,1,36,\"silu\",true],[\"ir\",864,144,3,1,36,\"silu\",true],[\"ir\",864,144,3,1,36,\"silu\","
     "true]],[[\"ir\",864,200,5,1,36,\"silu\",false],[\"ir\",1200,200,5,1,50,\"silu\",true],[\"ir\",1200,2"
     "00,5,1,50,\"silu\",true],[\"ir\",1200,200,5,1,50,\"silu\",true],[\"ir\",1200,200,5,1,50,\"silu\",tru"
     "e],[\"ir\",1200,200,5,1,50,\"silu\",true],[\"ir\",1200,200,5,1,50,\"silu\",true],[\"ir\",1200,200,5,"
     "1,50,\"silu\",true]],[[\"ir\",1200,344,5,2,50,\"silu\",false],[\"ir\",2064,344,5,1,86,\"silu\",true]"
     ",[\"ir\",2064,344,5,1,86,\"silu\",true],[\"ir\",2064,344,5,1,86,\"silu\",true],[\"ir\",2064,344,5,1,"
     "86,\"silu\",true],[\"ir\",2064,344,5,1,86,\"silu\",true],[\"ir\",2064,344,5,1,86,\"silu\",true],[\"i"
     "r\",2064,344,5,1,86,\"silu\",true],[\"ir\",2064,344,5,1,86,\"silu\",true],[\"ir\",2064,344,5,1,86,\""
     "silu\",true],[\"ir\",2064,344,5,1,86,\"silu\",true]],[[\"ir\",2064,576,3,1,86,\"silu\",false],[\"ir"
     "\",3456,576,3,1,144,\"silu\",true],[\"ir\",3456,576,3,1,144,\"silu\",true]]],\"head\":2304,\"gate\":"
     "\"sigmoid\",\"squeeze_act\":\"silu\"}"},
    {"efficientnet_b7", "EfficientNet",
     "{\"stem\":64,\"act\":\"silu\",\"stages\":[[[\"ds\",64,32,3,1,16,\"silu\",false],[\"ds\",32,32,3,1,8,"
     "\"silu\",true],[\"ds\",32,32,3,1,8,\"silu\",true],[\"ds\",32,32,3,1,8,\"silu\",true]],[[\"ir\",192,4"
     "8,3,2,8,\"silu\",false],[\"ir\",288,48,3,1,12,\"silu\",true],[\"ir\",288,48,3,1,12,\"silu\",true],["
     "\"ir\",288,48,3,1,12,\"silu\",true],[\"ir\",288,48,3,1,12,\"silu\",true],[\"ir\",288,48,3,1,12,\"silu"
     "\",true],[\"ir\",288,48,3,1,12,\"silu\",true]],[[\"ir\",288,80,5,2,12,\"silu\",false],[\"ir\",480,80"
     ",5,1,20,\"silu\",true],[\"ir\",480,80,5,1,20,\"silu\",true],[\"ir\",480,80,5,1,20,\"silu\",true],[\""
     "ir\",480,80,5,1,20,\"silu\",true],[\"ir\",480,80,5,1,20,\"silu\",true],[\"ir\",480,80,5,1,20,\"silu"
     "\",true]],[[\"ir\",480,160,3,2,20,\"silu\",false],[\"ir\",960,160,3,1,40,\"silu\",true],[\"ir\",960,1"
     "60,3,1,40,\"silu\",true],[\"ir\",960,160,3,1,40,\"silu\",true],[\"ir\",960,160,3,1,40,\"silu\",true]"
     ",[\"ir\",960,160,3,1,40,\"silu\",true],[\"ir\",960,160,3,1,40,\"silu\",true],[\"ir\",960,160,3,1,40,"
     "\"silu\",true],[\"ir\",960,160,3,1,40,\"silu\",true],[\"ir\",960,160,3,1,40,\"silu\",true]],[[\"ir\""
     ",960,224,5,1,40,\"silu\",false],[\"ir\",1344,224,5,1,56,\"silu\",true],[\"ir\",1344,224,5,1,56,\"sil"
     "u\",true],[\"ir\",1344,224,5,1,56,\"silu\",true],[\"ir\",1344,224,5,1,56,\"silu\",true],[\"ir\",1344"
     ",224,5,1,56,\"silu\",true],[\"ir\",1344,224,5,1,56,\"silu\",true],[\"ir\",1344,224,5,1,56,\"silu\",t"
     "rue],[\"ir\",1344,224,5,1,56,\"silu\",true],[\"ir\",1344,224,5,1,56,\"silu\",true]],[[\"ir\",1344,38"
     "4,5,2,56,\"silu\",false],[\"ir\",2304,384,5,1,96,\"silu\",true],[\"ir\",2304,384,5,1,96,\"silu\",tru"
     "e],[\"ir\",2304,384,5,1,96,\"silu\",true],[\"ir\",2304,384,5,1,96,\"silu\",true],[\"ir\",2304,384,5,"
     "1,96,\"silu\",true],[\"ir\",2304,384,5,1,96,\"silu\",true],[\"ir\",2304,384,5,1,96,\"silu\",true],["
     "\"ir\",2304,384,5,1,96,\"silu\",true],[\"ir\",2304,384,5,1,96,\"silu\",true],[\"ir\",2304,384,5,1,96,"
     "\"silu\",true],[\"ir\",2304,384,5,1,96,\"silu\",true],[\"ir\",2304,384,5,1,96,\"silu\",true]],[[\"ir"
     "\",2304,640,3,1,96,\"silu\",false],[\"ir\",3840,640,3,1,160,\"silu\",true],[\"ir\",3840,640,3,1,160,"
     "\"silu\",true],[\"ir\",3840,640,3,1,160,\"silu\",true]]],\"head\":2560,\"gate\":\"sigmoid\",\"squeez"
     "e_act\":\"silu\"}"},
    {"efficientnet_b8", "EfficientNet",
     "{\"stem\":72,\"act\":\"silu\",\"stages\":[[[\"ds\",72,32,3,1,18,\"silu\",false],[\"ds\",32,32,3,1,8,"
     "\"silu\",true],[\"ds\",32,32,3,1,8,\"silu\",true],[\"ds\",32,32,3,1,8,\"silu\",true]],[[\"ir\",192,5"
     "6,3,2,8,\"silu\",false],[\"ir\",336,56,3,1,14,\"silu\",true],[\"ir\",336,56,3,1,14,\"silu\",true],["
     "\"ir\",336,56,3,1,14,\"silu\",true],[\"ir\",336,56,3,1,14,\"silu\",true],[\"ir\",336,56,3,1,14,\"silu"
     "\",true],[\"ir\",336,56,3,1,14,\"silu\",true],[\"ir\",336,56,3,1,14,\"silu\",true]],[[\"ir\",336,88,"
     "5,2,14,\"silu\",false],[\"ir\",528,88,5,1,22,\"silu\",true],[\"ir\",528,88,5,1,22,\"silu\",true],[\""
     "ir\",528,88,5,1,22,\"silu\",true],[\"ir\",528,88,5,1,22,\"silu\",true],[\"ir\",528,88,5,1,22,\"silu"
     "\",true],[\"ir\",528,88,5,1,22,\"silu\",true],[\"ir\",528,88,5,1,22,\"silu\",true]],[[\"ir\",528,176,"
     "3,2,22,\"silu\",false],[\"ir\",1056,176,3,1,44,\"silu\",true],[\"ir\",1056,176,3,1,44,\"silu\",true]"
     ",[\"ir\",1056,176,3,1,44,\"silu\",true],[\"ir\",1056,176,3,1,44,\"silu\",true],[\"ir\",1056,176,3,1,"
     "44,\"silu\",true],[\"ir\",1056,176,3,1,44,\"silu\",true],[\"ir\",1056,176,3,1,44,\"silu\",true],[\"i"
     "r\",1056,176,3,1,44,\"silu\",true],[\"ir\",1056,176,3,1,44,\"silu\",true],[\"ir\",1056,176,3,1,44,\""
     "silu\",true]],[[\"ir\",1056,248,5,1,44,\"silu\",false],[\"ir\",1488,248,5,1,62,\"silu\",true],[\"ir"
     "\",1488,248,5,1,62,\"silu\",true],[\"ir\",1488,248,5,1,62,\"silu\",true],[\"ir\",1488,248,5,1,62,\"si"
     "lu\",true],[\"ir\",1488,248,5,1,62,\"silu\",true],[\"ir\",1488,248,5,1,62,\"silu\",true],[\"ir\",148"
     "8,248,5,1,62,\"silu\",true],[\"ir\",1488,248,5,1,62,\"silu\",true],[\"ir\",1488,248,5,1,62,\"silu\","
     "true],[\"ir\",1488,248,5,1,62,\"silu\",true]],[[\"ir\",1488,424,5,2,62,\"silu\",false],[\"ir\",2544,"
     "424,5,1,106,\"silu\",true],[\"ir\",2544,424,5,1,106,\"silu\",true],[\"ir\",2544,424,5,1,106,\"silu\""
     ",true],[\"ir\",2544,424,5,1,106,\"silu\",true],[\"ir\",2544,424,5,1,106,\"silu\",true],[\"ir\",2544,"
     "424,5,1,106,\"silu\",true],[\"ir\",2544,424,5,1,106,\"silu\",true],[\"ir\",2544,424,5,1,106,\"silu\""
     ",true],[\"ir\",2544,424,5,1,106,\"silu\",true],[\"ir\",2544,424,5,1,106,\"silu\",true],[\"ir\",2544,"
     "424,5,1,106,\"silu\",true],[\"ir\",2544,424,5,1,106,\"silu\",true],[\"ir\",2544,424,5,1,106,\"silu\""
     ",true],[\"ir\",2544,424,5,1,106,\"silu\",true]],[[\"ir\",2544,704,3,1,106,\"silu\",false],[\"ir\",42"
     "24,704,3,1,176,\"silu\",true],[\"ir\",4224,704,3,1,176,\"silu\",true],[\"ir\",4224,704,3,1,176,\"sil"
     "u\",true]]],\"head\":2816,\"gate\":\"sigmoid\",\"squeeze_act\":\"silu\"}"},
    {"eva02_base_patch14_224", "Eva",
     "{\"img_size\":224,\"patch_size\":14,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"qkv_fused\":fa"
     "lse,\"mlp_ratio\":2.6666666666666665,\"swiglu_mlp\":true,\"scale_mlp\":true,\"use_rot_pos_emb\":true"
     ",\"ref_feat_shape\":[16,16]}"},
    {"eva02_base_patch14_448", "Eva",
     "{\"img_size\":448,\"patch_size\":14,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"qkv_fused\":fa"
     "lse,\"mlp_ratio\":2.6666666666666665,\"swiglu_mlp\":true,\"scale_mlp\":true,\"use_rot_pos_emb\":true"
     ",\"ref_feat_shape\":[16,16]}"},
    {"eva02_base_patch16_clip_224", "Eva",
     "{\"img_size\":224,\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"qkv_fused\":fa"
     "lse,\"mlp_ratio\":2.6666666666666665,\"swiglu_mlp\":true,\"scale_mlp\":true,\"scale_attn_inner\":tru"
     "e,\"use_rot_pos_emb\":true,\"ref_feat_shape\":[16,16],\"global_pool\":\"token\"}"},
    {"eva02_large_patch14_224", "Eva",
     "{\"img_size\":224,\"patch_size\":14,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"mlp_ratio\":2"
     ".6666666666666665,\"qkv_fused\":false,\"swiglu_mlp\":true,\"scale_mlp\":true,\"use_rot_pos_emb\":tru"
     "e,\"ref_feat_shape\":[16,16]}"},
    {"eva02_large_patch14_448", "Eva",
     "{\"img_size\":448,\"patch_size\":14,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"mlp_ratio\":2"
     ".6666666666666665,\"qkv_fused\":false,\"swiglu_mlp\":true,\"scale_mlp\":true,\"use_rot_pos_emb\":tru"
     "e,\"ref_feat_shape\":[16,16]}"},
    {"eva02_large_patch14_clip_224", "Eva",
     "{\"img_size\":224,\"patch_size\":14,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"mlp_ratio\":2"
     ".6666666666666665,\"qkv_fused\":false,\"swiglu_mlp\":true,\"scale_mlp\":true,\"scale_attn_inner\":tr"
     "ue,\"use_rot_pos_emb\":true,\"ref_feat_shape\":[16,16],\"global_pool\":\"token\"}"},
    {"eva02_large_patch14_clip_336", "Eva",
     "{\"img_size\":336,\"patch_size\":14,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"mlp_ratio\":2"
     ".6666666666666665,\"qkv_fused\":false,\"swiglu_mlp\":true,\"scale_mlp\":true,\"scale_attn_inner\":tr"
     "ue,\"use_rot_pos_emb\":true,\"ref_feat_shape\":[16,16],\"global_pool\":\"token\"}"},
    {"eva02_small_patch14_224", "Eva",
     "{\"img_size\":224,\"patch_size\":14,\"embed_dim\":384,\"depth\":12,\"num_heads\":6,\"mlp_ratio\":2.6"
     "666666666666665,\"swiglu_mlp\":true,\"use_rot_pos_emb\":true,\"ref_feat_shape\":[16,16]}"},
    {"eva02_small_patch14_336", "Eva",
     "{\"img_size\":336,\"patch_size\":14,\"embed_dim\":384,\"depth\":12,\"num_heads\":6,\"mlp_ratio\":2.6"
     "666666666666665,\"swiglu_mlp\":true,\"use_rot_pos_emb\":true,\"ref_feat_shape\":[16,16]}"},
    {"eva02_tiny_patch14_224", "Eva",
     "{\"img_size\":224,\"patch_size\":14,\"embed_dim\":192,\"depth\":12,\"num_heads\":3,\"mlp_ratio\":2.6"
     "666666666666665,\"swiglu_mlp\":true,\"use_rot_pos_emb\":true,\"ref_feat_shape\":[16,16]}"},
    {"eva02_tiny_patch14_336", "Eva",
     "{\"img_size\":336,\"patch_size\":14,\"embed_dim\":192,\"depth\":12,\"num_heads\":3,\"mlp_ratio\":2.6"
     "666666666666665,\"swiglu_mlp\":true,\"use_rot_pos_emb\":true,\"ref_feat_shape\":[16,16]}"},
    {"mnasnet_050", "EfficientNet",
     "{\"stem\":16,\"act\":\"relu\",\"stages\":[[[\"ds\",16,8,3,1,0,\"relu\",false]],[[\"ir\",24,16,3,2,0,"
     "\"relu\",false],[\"ir\",48,16,3,1,0,\"relu\",true],[\"ir\",48,16,3,1,0,\"relu\",true]],[[\"ir\",48,2"
     "4,5,2,0,\"relu\",false],[\"ir\",72,24,5,1,0,\"relu\",true],[\"ir\",72,24,5,1,0,\"relu\",true]],[[\"i"
     "r\",144,40,5,2,0,\"relu\",false],[\"ir\",240,40,5,1,0,\"relu\",true],[\"ir\",240,40,5,1,0,\"relu\",t"
     "rue]],[[\"ir\",240,48,3,1,0,\"relu\",false],[\"ir\",288,48,3,1,0,\"relu\",true]],[[\"ir\",288,96,5,2"
     ",0,\"relu\",false],[\"ir\",576,96,5,1,0,\"relu\",true],[\"ir\",576,96,5,1,0,\"relu\",true],[\"ir\",5"
     "76,96,5,1,0,\"relu\",true]],[[\"ir\",576,160,3,1,0,\"relu\",false]]],\"head\":1280}"},
    {"mnasnet_075", "EfficientNet",
     "{\"stem\":24,\"act\":\"relu\",\"stages\":[[[\"ds\",24,16,3,1,0,\"relu\",false]],[[\"ir\",48,24,3,2,0"
     ",\"relu\",false],[\"ir\",72,24,3,1,0,\"relu\",true],[\"ir\",72,24,3,1,0,\"relu\",true]],[[\"ir\",72,"
     "32,5,2,0,\"relu\",false],[\"ir\",96,32,5,1,0,\"relu\",true],[\"ir\",96,32,5,1,0,\"relu\",true]],[[\""
     "ir\",192,64,5,2,0,\"relu\",false],[\"ir\",384,64,5,1,0,\"relu\",true],[\"ir\",384,64,5,1,0,\"relu\","
     "true]],[[\"ir\",384,72,3,1,0,\"relu\",false],[\"ir\",432,72,3,1,0,\"relu\",true]],[[\"ir\",432,144,5"
     ",2,0,\"relu\",false],[\"ir\",864,144,5,1,0,\"relu\",true],[\"ir\",864,144,5,1,0,\"relu\",true],[\"ir"
     "\",864,144,5,1,0,\"relu\",true]],[[\"ir\",864,240,3,1,0,\"relu\",false]]],\"head\":1280}"},
    {"mnasnet_100", "EfficientNet",
     "{\"stem\":32,\"act\":\"relu\",\"stages\":[[[\"ds\",32,16,3,1,0,\"relu\",false]],[[\"ir\",48,24,3,2,0"
     ",\"relu\",false],[\"ir\",72,24,3,1,0,\"relu\",true],[\"ir\",72,24,3,1,0,\"relu\",true]],[[\"ir\",72,"
     "40,5,2,0,\"relu\",false],[\"ir\",120,40,5,1,0,\"relu\",true],[\"ir\",120,40,5,1,0,\"relu\",true]],[["
     "\"ir\",240,80,5,2,0,\"relu\",false],[\"ir\",480,80,5,1,0,\"relu\",true],[\"ir\",480,80,5,1,0,\"relu"
     "\",true]],[[\"ir\",480,96,3,1,0,\"relu\",false],[\"ir\",576,96,3,1,0,\"relu\",true]],[[\"ir\",576,192"
     ",5,2,0,\"relu\",false],[\"ir\",1152,192,5,1,0,\"relu\",true],[\"ir\",1152,192,5,1,0,\"relu\",true],["
     "\"ir\",1152,192,5,1,0,\"relu\",true]],[[\"ir\",1152,320,3,1,0,\"relu\",false]]],\"head\":1280}"},
    {"mnasnet_140", "EfficientNet",
     "{\"stem\":48,\"act\":\"relu\",\"stages\":[[[\"ds\",48,24,3,1,0,\"relu\",false]],[[\"ir\",72,32,3,2,0"
     ",\"relu\",false],[\"ir\",96,32,3,1,0,\"relu\",true],[\"ir\",96,32,3,1,0,\"relu\",true]],[[\"ir\",96,"
     "56,5,2,0,\"relu\",false],[\"ir\",168,56,5,1,0,\"relu\",true],[\"ir\",168,56,5,1,0,\"relu\",true]],[["
     "\"ir\",336,112,5,2,0,\"relu\",false],[\"ir\",672,112,5,1,0,\"relu\",true],[\"ir\",672,112,5,1,0,\"re"
     "lu\",true]],[[\"ir\",672,136,3,1,0,\"relu\",false],[\"ir\",816,136,3,1,0,\"relu\",true]],[[\"ir\",81"
     "6,272,5,2,0,\"relu\",false],[\"ir\",1632,272,5,1,0,\"relu\",true],[\"ir\",1632,272,5,1,0,\"relu\",tr"
     "ue],[\"ir\",1632,272,5,1,0,\"relu\",true]],[[\"ir\",1632,448,3,1,0,\"relu\",false]]],\"head\":1280}"},
    {"mnasnet_small", "EfficientNet",
     "{\"stem\":8,\"act\":\"relu\",\"stages\":[[[\"ds\",8,8,3,1,0,\"relu\",true]],[[\"ir\",24,16,3,2,0,\"r"
     "elu\",false]],[[\"ir\",96,16,3,2,0,\"relu\",false],[\"ir\",96,16,3,1,0,\"relu\",true]],[[\"ir\",96,3"
     "2,5,2,4,\"relu\",false],[\"ir\",192,32,5,1,8,\"relu\",true],[\"ir\",192,32,5,1,8,\"relu\",true],[\"i"
     "r\",192,32,5,1,8,\"relu\",true]],[[\"ir\",192,32,3,1,8,\"relu\",true],[\"ir\",192,32,3,1,8,\"relu\","
     "true],[\"ir\",192,32,3,1,8,\"relu\",true]],[[\"ir\",192,88,5,2,8,\"relu\",false],[\"ir\",528,88,5,1,"
     "22,\"relu\",true],[\"ir\",528,88,5,1,22,\"relu\",true]],[[\"ir\",528,144,3,1,0,\"relu\",false]]],\"h"
     "ead\":1280,\"gate\":\"sigmoid\",\"squeeze_act\":\"relu\"}"},
    {"mobilenetv2_035", "EfficientNet",
     "{\"stem\":16,\"act\":\"relu6\",\"stages\":[[[\"ds\",16,8,3,1,0,\"relu6\",false]],[[\"ir\",48,8,3,2,0"
     ",\"relu6\",false],[\"ir\",48,8,3,1,0,\"relu6\",true]],[[\"ir\",48,16,3,2,0,\"relu6\",false],[\"ir\","
     "96,16,3,1,0,\"relu6\",true],[\"ir\",96,16,3,1,0,\"relu6\",true]],[[\"ir\",96,24,3,2,0,\"relu6\",fals"
     "e],[\"ir\",144,24,3,1,0,\"relu6\",true],[\"ir\",144,24,3,1,0,\"relu6\",true],[\"ir\",144,24,3,1,0,\""
     "relu6\",true]],[[\"ir\",144,32,3,1,0,\"relu6\",false],[\"ir\",192,32,3,1,0,\"relu6\",true],[\"ir\",1"
     "92,32,3,1,0,\"relu6\",true]],[[\"ir\",192,56,3,2,0,\"relu6\",false],[\"ir\",336,56,3,1,0,\"relu6\",t"
     "rue],[\"ir\",336,56,3,1,0,\"relu6\",true]],[[\"ir\",336,112,3,1,0,\"relu6\",false]]],\"head\":1280}"},
    {"mobilenetv2_050", "EfficientNet",
     "{\"stem\":16,\"act\":\"relu6\",\"stages\":[[[\"ds\",16,8,3,1,0,\"relu6\",false]],[[\"ir\",48,16,3,2,"
     "0,\"relu6\",false],[\"ir\",96,16,3,1,0,\"relu6\",true]],[[\"ir\",96,16,3,2,0,\"relu6\",false],[\"ir"
     "\",96,16,3,1,0,\"relu6\",true],[\"ir\",96,16,3,1,0,\"relu6\",true]],[[\"ir\",96,32,3,2,0,\"relu6\",fa"
     "lse],[\"ir\",192,32,3,1,0,\"relu6\",true],[\"ir\",192,32,3,1,0,\"relu6\",true],[\"ir\",192,32,3,1,0,"
     "\"relu6\",true]],[[\"ir\",192,48,3,1,0,\"relu6\",false],[\"ir\",288,48,3,1,0,\"relu6\",true],[\"ir\""
     ",288,48,3,1,0,\"relu6\",true]],[[\"ir\",288,80,3,2,0,\"relu6\",false],[\"ir\",480,80,3,1,0,\"relu6\""
     ",true],[\"ir\",480,80,3,1,0,\"relu6\",true]],[[\"ir\",480,160,3,1,0,\"relu6\",false]]],\"head\":1280"
     "}"},
    {"mobilenetv2_075", "EfficientNet",
     "{\"stem\":24,\"act\":\"relu6\",\"stages\":[[[\"ds\",24,16,3,1,0,\"relu6\",false]],[[\"ir\",96,24,3,2"
     ",0,\"relu6\",false],[\"ir\",144,24,3,1,0,\"relu6\",true]],[[\"ir\",144,24,3,2,0,\"relu6\",false],[\""
     "ir\",144,24,3,1,0,\"relu6\",true],[\"ir\",144,24,3,1,0,\"relu6\",true]],[[\"ir\",144,48,3,2,0,\"relu"
     "6\",false],[\"ir\",288,48,3,1,0,\"relu6\",true],[\"ir\",288,48,3,1,0,\"relu6\",true],[\"ir\",288,48,"
     "3,1,0,\"relu6\",true]],[[\"ir\",288,72,3,1,0,\"relu6\",false],[\"ir\",432,72,3,1,0,\"relu6\",true],["
     "\"ir\",432,72,3,1,0,\"relu6\",true]],[[\"ir\",432,120,3,2,0,\"relu6\",false],[\"ir\",720,120,3,1,0,"
     "\"relu6\",true],[\"ir\",720,120,3,1,0,\"relu6\",true]],[[\"ir\",720,240,3,1,0,\"relu6\",false]]],\"he"
     "ad\":1280}"},
    {"mobilenetv2_100", "EfficientNet",
     "{\"stem\":32,\"act\":\"relu6\",\"stages\":[[[\"ds\",32,16,3,1,0,\"relu6\",false]],[[\"ir\",96,24,3,2"
     ",0,\"relu6\",false],[\"ir\",144,24,3,1,0,\"relu6\",true]],[[\"ir\",144,32,3,2,0,\"relu6\",false],[\""
     "ir\",192,32,3,1,0,\"relu6\",true],[\"ir\",192,32,3,1,0,\"relu6\",true]],[[\"ir\",192,64,3,2,0,\"relu"
     "6\",false],[\"ir\",384,64,3,1,0,\"relu6\",true],[\"ir\",384,64,3,1,0,\"relu6\",true],[\"ir\",384,64,"
     "3,1,0,\"relu6\",true]],[[\"ir\",384,96,3,1,0,\"relu6\",false],[\"ir\",576,96,3,1,0,\"relu6\",true],["
     "\"ir\",576,96,3,1,0,\"relu6\",true]],[[\"ir\",576,160,3,2,0,\"relu6\",false],[\"ir\",960,160,3,1,0,"
     "\"relu6\",true],[\"ir\",960,160,3,1,0,\"relu6\",true]],[[\"ir\",960,320,3,1,0,\"relu6\",false]]],\"he"
     "ad\":1280}"},
    {"mobilenetv2_110d", "EfficientNet",
     "{\"stem\":32,\"act\":\"relu6\",\"stages\":[[[\"ds\",32,16,3,1,0,\"relu6\",false]],[[\"ir\",96,24,3,2"
     ",0,\"relu6\",false],[\"ir\",144,24,3,1,0,\"relu6\",true],[\"ir\",144,24,3,1,0,\"relu6\",true]],[[\"i"
     "r\",144,32,3,2,0,\"relu6\",false],[\"ir\",192,32,3,1,0,\"relu6\",true],[\"ir\",192,32,3,1,0,\"relu6"
     "\",true],[\"ir\",192,32,3,1,0,\"relu6\",true]],[[\"ir\",192,72,3,2,0,\"relu6\",false],[\"ir\",432,72,"
     "3,1,0,\"relu6\",true],[\"ir\",432,72,3,1,0,\"relu6\",true],[\"ir\",432,72,3,1,0,\"relu6\",true],[\"i"
     "r\",432,72,3,1,0,\"relu6\",true]],[[\"ir\",432,104,3,1,0,\"relu6\",false],[\"ir\",624,104,3,1,0,\"re"
     "lu6\",true],[\"ir\",624,104,3,1,0,\"relu6\",true],[\"ir\",624,104,3,1,0,\"relu6\",true]],[[\"ir\",62"
     "4,176,3,2,0,\"relu6\",false],[\"ir\",1056,176,3,1,0,\"relu6\",true],[\"ir\",1056,176,3,1,0,\"relu6\""
     ",true],[\"ir\",1056,176,3,1,0,\"relu6\",true]],[[\"ir\",1056,352,3,1,0,\"relu6\",false]]],\"head\":1"
     "280}"},
    {"mobilenetv2_120d", "EfficientNet",
     "{\"stem\":32,\"act\":\"relu6\",\"stages\":[[[\"ds\",32,24,3,1,0,\"relu6\",false]],[[\"ir\",144,32,3,"
     "2,0,\"relu6\",false],[\"ir\",192,32,3,1,0,\"relu6\",true],[\"ir\",192,32,3,1,0,\"relu6\",true]],[[\""
     "ir\",192,40,3,2,0,\"relu6\",false],[\"ir\",240,40,3,1,0,\"relu6\",true],[\"ir\",240,40,3,1,0,\"relu6"
     "\",true],[\"ir\",240,40,3,1,0,\"relu6\",true],[\"ir\",240,40,3,1,0,\"relu6\",true]],[[\"ir\",240,80,"
     "3,2,0,\"relu6\",false],[\"ir\",480,80,3,1,0,\"relu6\",true],[\"ir\",480,80,3,1,0,\"relu6\",true],[\""
     "ir\",480,80,3,1,0,\"relu6\",true],[\"ir\",480,80,3,1,0,\"relu6\",true],[\"ir\",480,80,3,1,0,\"relu6"
     "\",true]],[[\"ir\",480,112,3,1,0,\"relu6\",false],[\"ir\",672,112,3,1,0,\"relu6\",true],[\"ir\",672,1"
     "12,3,1,0,\"relu6\",true],[\"ir\",672,112,3,1,0,\"relu6\",true],[\"ir\",672,112,3,1,0,\"relu6\",true]"
     "],[[\"ir\",672,192,3,2,0,\"relu6\",false],[\"ir\",1152,192,3,1,0,\"relu6\",true],[\"ir\",1152,192,3,"
     "1,0,\"relu6\",true],[\"ir\",1152,192,3,1,0,\"relu6\",true],[\"ir\",1152,192,3,1,0,\"relu6\",true]],["
     "[\"ir\",1152,384,3,1,0,\"relu6\",false]]],\"head\":1280}"},
    {"mobilenetv2_140", "EfficientNet",
     "{\"stem\":48,\"act\":\"relu6\",\"stages\":[[[\"ds\",48,24,3,1,0,\"relu6\",false]],[[\"ir\",144,32,3,"
     "2,0,\"relu6\",false],[\"ir\",192,32,3,1,0,\"relu6\",true]],[[\"ir\",192,48,3,2,0,\"relu6\",false],["
     "\"ir\",288,48,3,1,0,\"relu6\",true],[\"ir\",288,48,3,1,0,\"relu6\",true]],[[\"ir\",288,88,3,2,0,\"rel"
     "u6\",false],[\"ir\",528,88,3,1,0,\"relu6\",true],[\"ir\",528,88,3,1,0,\"relu6\",true],[\"ir\",528,88"
     ",3,1,0,\"relu6\",true]],[[\"ir\",528,136,3,1,0,\"relu6\",false],[\"ir\",816,136,3,1,0,\"relu6\",true"
     "],[\"ir\",816,136,3,1,0,\"relu6\",true]],[[\"ir\",816,224,3,2,0,\"relu6\",false],[\"ir\",1344,224,3,"
     "1,0,\"relu6\",true],[\"ir\",1344,224,3,1,0,\"relu6\",true]],[[\"ir\",1344,448,3,1,0,\"relu6\",false]"
     "]],\"head\":1792}"},
    {"mobilenetv3_large_075", "MobileNetV3",
     "{\"stem\":16,\"act\":\"hardswish\",\"stages\":[[[\"ds\",16,16,3,1,0,\"relu\",true]],[[\"ir\",64,24,3"
     ",2,0,\"relu\",false],[\"ir\",72,24,3,1,0,\"relu\",true]],[[\"ir\",72,32,5,2,24,\"relu\",false],[\"ir"
     "\",96,32,5,1,24,\"relu\",true],[\"ir\",96,32,5,1,24,\"relu\",true]],[[\"ir\",192,64,3,2,0,\"hardswis"
     "h\",false],[\"ir\",160,64,3,1,0,\"hardswish\",true],[\"ir\",144,64,3,1,0,\"hardswish\",true],[\"ir\""
     ",144,64,3,1,0,\"hardswish\",true]],[[\"ir\",384,88,3,1,96,\"hardswish\",false],[\"ir\",528,88,3,1,13"
     "6,\"hardswish\",true]],[[\"ir\",528,120,5,2,136,\"hardswish\",false],[\"ir\",720,120,5,1,184,\"hards"
     "wish\",true],[\"ir\",720,120,5,1,184,\"hardswish\",true]],[[\"cn\",720,720,1,1,0,\"hardswish\",false"
     "]]],\"head\":1280,\"act_head\":\"hardswish\",\"gate\":\"hardsigmoid\",\"squeeze_act\":\"relu\"}"},
    {"mobilenetv3_large_100", "MobileNetV3",
     "{\"stem\":16,\"act\":\"hardswish\",\"stages\":[[[\"ds\",16,16,3,1,0,\"relu\",true]],[[\"ir\",64,24,3"
     ",2,0,\"relu\",false],[\"ir\",72,24,3,1,0,\"relu\",true]],[[\"ir\",72,40,5,2,24,\"relu\",false],[\"ir"
     "\",120,40,5,1,32,\"relu\",true],[\"ir\",120,40,5,1,32,\"relu\",true]],[[\"ir\",240,80,3,2,0,\"hardsw"
     "ish\",false],[\"ir\",200,80,3,1,0,\"hardswish\",true],[\"ir\",184,80,3,1,0,\"hardswish\",true],[\"ir"
     "\",184,80,3,1,0,\"hardswish\",true]],[[\"ir\",480,112,3,1,120,\"hardswish\",false],[\"ir\",672,112,3"
     ",1,168,\"hardswish\",true]],[[\"ir\",672,160,5,2,168,\"hardswish\",false],[\"ir\",960,160,5,1,240,\""
     "hardswish\",true],[\"ir\",960,160,5,1,240,\"hardswish\",true]],[[\"cn\",960,960,1,1,0,\"hardswish\","
     "false]]],\"head\":1280,\"act_head\":\"hardswish\",\"gate\":\"hardsigmoid\",\"squeeze_act\":\"relu\"}"},
    {"mobilenetv3_large_150d", "MobileNetV3",
     "{\"stem\":24,\"act\":\"hardswish\",\"stages\":[[[\"ds\",24,24,3,1,0,\"relu\",true],[\"ds\",24,24,3,1"
     ",0,\"relu\",true]],[[\"ir\",96,40,3,2,0,\"relu\",false],[\"ir\",120,40,3,1,0,\"relu\",true],[\"ir\","
     "120,40,3,1,0,\"relu\",true]],[[\"ir\",120,64,5,2,32,\"relu\",false],[\"ir\",192,64,5,1,48,\"relu\",t"
     "rue],[\"ir\",192,64,5,1,48,\"relu\",true],[\"ir\",192,64,5,1,48,\"relu\",true]],[[\"ir\",384,120,3,2"
     ",0,\"hardswish\",false],[\"ir\",304,120,3,1,0,\"hardswish\",true],[\"ir\",304,120,3,1,0,\"hardswish"
     "\",true],[\"ir\",280,120,3,1,0,\"hardswish\",true],[\"ir\",280,120,3,1,0,\"hardswish\",true]],[[\"ir"
     "\",720,168,3,1,184,\"hardswish\",false],[\"ir\",1008,168,3,1,256,\"hardswish\",true],[\"ir\",1008,168"
     ",3,1,256,\"hardswish\",true]],[[\"ir\",1008,240,5,2,256,\"hardswish\",false],[\"ir\",1440,240,5,1,36"
     "0,\"hardswish\",true],[\"ir\",1440,240,5,1,360,\"hardswish\",true],[\"ir\",1440,240,5,1,360,\"hardsw"
     "ish\",true]],[[\"cn\",1440,1440,1,1,0,\"hardswish\",false],[\"cn\",1440,1440,1,1,0,\"hardswish\",fal"
     "se]]],\"head\":1280,\"act_head\":\"hardswish\",\"gate\":\"hardsigmoid\",\"squeeze_act\":\"relu\"}"},
    {"mobilenetv3_small_050", "MobileNetV3",
     "{\"stem\":16,\"act\":\"hardswish\",\"stages\":[[[\"ds\",16,8,3,2,8,\"relu\",false]],[[\"ir\",40,16,3"
     ",2,0,\"relu\",false],[\"ir\",56,16,3,1,0,\"relu\",true]],[[\"ir\",64,24,5,2,16,\"hardswish\",false],"
     "[\"ir\",144,24,5,1,40,\"hardswish\",true],[\"ir\",144,24,5,1,40,\"hardswish\",true]],[[\"ir\",72,24,"
     "5,1,24,\"hardswish\",true],[\"ir\",72,24,5,1,24,\"hardswish\",true]],[[\"ir\",144,48,5,2,40,\"hardsw"
     "ish\",false],[\"ir\",288,48,5,1,72,\"hardswish\",true],[\"ir\",288,48,5,1,72,\"hardswish\",true]],[["
     "\"cn\",288,288,1,1,0,\"hardswish\",false]]],\"head\":1024,\"act_head\":\"hardswish\",\"gate\":\"hard"
     "sigmoid\",\"squeeze_act\":\"relu\"}"},
    {"mobilenetv3_small_075", "MobileNetV3",
     "{\"stem\":16,\"act\":\"hardswish\",\"stages\":[[[\"ds\",16,16,3,2,8,\"relu\",false]],[[\"ir\",72,24,"
     "3,2,0,\"relu\",false],[\"ir\",88,24,3,1,0,\"relu\",true]],[[\"ir\",96,32,5,2,24,\"hardswish\",false]"
     ",[\"ir\",192,32,5,1,48,\"hardswish\",true],[\"ir\",192,32,5,1,48,\"hardswish\",true]],[[\"ir\",96,40"
     ",5,1,24,\"hardswish\",false],[\"ir\",120,40,5,1,32,\"hardswish\",true]],[[\"ir\",240,72,5,2,64,\"har"
     "dswish\",false],[\"ir\",432,72,5,1,112,\"hardswish\",true],[\"ir\",432,72,5,1,112,\"hardswish\",true"
     "]],[[\"cn\",432,432,1,1,0,\"hardswish\",false]]],\"head\":1024,\"act_head\":\"hardswish\",\"gate\":"
     "\"hardsigmoid\",\"squeeze_act\":\"relu\"}"},
    {"mobilenetv3_small_100", "MobileNetV3",
     "{\"stem\":16,\"act\":\"hardswish\",\"stages\":[[[\"ds\",16,16,3,2,8,\"relu\",false]],[[\"ir\",72,24,"
     "3,2,0,\"relu\",false],[\"ir\",88,24,3,1,0,\"relu\",true]],[[\"ir\",96,40,5,2,24,\"hardswish\",false]"
     ",[\"ir\",240,40,5,1,64,\"hardswish\",true],[\"ir\",240,40,5,1,64,\"hardswish\",true]],[[\"ir\",120,4"
     "8,5,1,32,\"hardswish\",false],[\"ir\",144,48,5,1,40,\"hardswish\",true]],[[\"ir\",288,96,5,2,72,\"ha"
     "rdswish\",false],[\"ir\",576,96,5,1,144,\"hardswish\",true],[\"ir\",576,96,5,1,144,\"hardswish\",tru"
     "e]],[[\"cn\",576,576,1,1,0,\"hardswish\",false]]],\"head\":1024,\"act_head\":\"hardswish\",\"gate\":"
     "\"hardsigmoid\",\"squeeze_act\":\"relu\"}"},
    {"resnet10t", "ResNet",
     "{\"block\":\"BasicBlock\",\"layers\":[1,1,1,1],\"stem_width\":32,\"stem_type\":\"deep_tiered\",\"avg"
     "_down\":true}"},
    {"resnet14t", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[1,1,1,1],\"stem_width\":32,\"stem_type\":\"deep_tiered\",\"avg"
     "_down\":true}"},
    {"resnet18", "ResNet",
     "{\"block\":\"BasicBlock\",\"layers\":[2,2,2,2]}"},
    {"resnet18d", "ResNet",
     "{\"block\":\"BasicBlock\",\"layers\":[2,2,2,2],\"stem_width\":32,\"stem_type\":\"deep\",\"avg_down\""
     ":true}"},
    {"resnet26", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[2,2,2,2]}"},
    {"resnet26d", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[2,2,2,2],\"stem_width\":32,\"stem_type\":\"deep\",\"avg_down\""
     ":true}"},
    {"resnet26t", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[2,2,2,2],\"stem_width\":32,\"stem_type\":\"deep_tiered\",\"avg"
     "_down\":true}"},
    {"resnet34", "ResNet",
     "{\"block\":\"BasicBlock\",\"layers\":[3,4,6,3]}"},
    {"resnet34d", "ResNet",
     "{\"block\":\"BasicBlock\",\"layers\":[3,4,6,3],\"stem_width\":32,\"stem_type\":\"deep\",\"avg_down\""
     ":true}"},
    {"resnet50", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,6,3]}"},
    {"resnet50c", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,6,3],\"stem_width\":32,\"stem_type\":\"deep\"}"},
    {"resnet50d", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,6,3],\"stem_width\":32,\"stem_type\":\"deep\",\"avg_down\""
     ":true}"},
    {"resnet50s", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,6,3],\"stem_width\":64,\"stem_type\":\"deep\"}"},
    {"resnet50t", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,6,3],\"stem_width\":32,\"stem_type\":\"deep_tiered\",\"avg"
     "_down\":true}"},
    {"resnet101", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,23,3]}"},
    {"resnet101c", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,23,3],\"stem_width\":32,\"stem_type\":\"deep\"}"},
    {"resnet101d", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,23,3],\"stem_width\":32,\"stem_type\":\"deep\",\"avg_down"
     "\":true}"},
    {"resnet101s", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,23,3],\"stem_width\":64,\"stem_type\":\"deep\"}"},
    {"resnet152", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,8,36,3]}"},
    {"resnet152c", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,8,36,3],\"stem_width\":32,\"stem_type\":\"deep\"}"},
    {"resnet152d", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,8,36,3],\"stem_width\":32,\"stem_type\":\"deep\",\"avg_down"
     "\":true}"},
    {"resnet152s", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,8,36,3],\"stem_width\":64,\"stem_type\":\"deep\"}"},
    {"resnet200", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,24,36,3]}"},
    {"resnet200d", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,24,36,3],\"stem_width\":32,\"stem_type\":\"deep\",\"avg_down"
     "\":true}"},
    {"resnext50_32x4d", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,6,3],\"cardinality\":32,\"base_width\":4}"},
    {"resnext50d_32x4d", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,6,3],\"cardinality\":32,\"base_width\":4,\"stem_width\":32"
     ",\"stem_type\":\"deep\",\"avg_down\":true}"},
    {"resnext101_32x4d", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,23,3],\"cardinality\":32,\"base_width\":4}"},
    {"resnext101_32x8d", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,23,3],\"cardinality\":32,\"base_width\":8}"},
    {"resnext101_32x16d", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,23,3],\"cardinality\":32,\"base_width\":16}"},
    {"resnext101_32x32d", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,23,3],\"cardinality\":32,\"base_width\":32}"},
    {"resnext101_64x4d", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,23,3],\"cardinality\":64,\"base_width\":4}"},
    {"swin_base_patch4_window7_224", "SwinTransformer",
     "{\"patch_size\":4,\"window_size\":7,\"embed_dim\":128,\"depths\":[2,2,18,2],\"num_heads\":[4,8,16,32"
     "],\"img_size\":224}"},
    {"swin_base_patch4_window12_384", "SwinTransformer",
     "{\"patch_size\":4,\"window_size\":12,\"embed_dim\":128,\"depths\":[2,2,18,2],\"num_heads\":[4,8,16,3"
     "2],\"img_size\":384}"},
    {"swin_large_patch4_window7_224", "SwinTransformer",
     "{\"patch_size\":4,\"window_size\":7,\"embed_dim\":192,\"depths\":[2,2,18,2],\"num_heads\":[6,12,24,4"
     "8],\"img_size\":224}"},
    {"swin_large_patch4_window12_384", "SwinTransformer",
     "{\"patch_size\":4,\"window_size\":12,\"embed_dim\":192,\"depths\":[2,2,18,2],\"num_heads\":[6,12,24,"
     "48],\"img_size\":384}"},
    {"swin_s3_base_224", "SwinTransformer",
     "{\"patch_size\":4,\"window_size\":[7,7,14,7],\"embed_dim\":96,\"depths\":[2,2,30,2],\"num_heads\":[3"
     ",6,12,24],\"img_size\":224}"},
    {"swin_s3_small_224", "SwinTransformer",
     "{\"patch_size\":4,\"window_size\":[14,14,14,7],\"embed_dim\":96,\"depths\":[2,2,18,2],\"num_heads\":"
     "[3,6,12,24],\"img_size\":224}"},
    {"swin_s3_tiny_224", "SwinTransformer",
     "{\"patch_size\":4,\"window_size\":[7,7,14,7],\"embed_dim\":96,\"depths\":[2,2,6,2],\"num_heads\":[3,"
     "6,12,24],\"img_size\":224}"},
    {"swin_small_patch4_window7_224", "SwinTransformer",
     "{\"patch_size\":4,\"window_size\":7,\"embed_dim\":96,\"depths\":[2,2,18,2],\"num_heads\":[3,6,12,24]"
     ",\"img_size\":224}"},
    {"swin_tiny_patch4_window7_224", "SwinTransformer",
     "{\"patch_size\":4,\"window_size\":7,\"embed_dim\":96,\"depths\":[2,2,6,2],\"num_heads\":[3,6,12,24],"
     "\"img_size\":224}"},
    {"vgg11", "VGG",
     "{\"cfg\":[64,\"M\",128,\"M\",256,256,\"M\",512,512,\"M\",512,512,\"M\"]}"},
    {"vgg11_bn", "VGG",
     "{\"cfg\":[64,\"M\",128,\"M\",256,256,\"M\",512,512,\"M\",512,512,\"M\"],\"norm_layer\":\"BatchNorm2d"
     "\"}"},
    {"vgg13", "VGG",
     "{\"cfg\":[64,64,\"M\",128,128,\"M\",256,256,\"M\",512,512,\"M\",512,512,\"M\"]}"},
    {"vgg13_bn", "VGG",
     "{\"cfg\":[64,64,\"M\",128,128,\"M\",256,256,\"M\",512,512,\"M\",512,512,\"M\"],\"norm_layer\":\"Batc"
     "hNorm2d\"}"},
    {"vgg16", "VGG",
     "{\"cfg\":[64,64,\"M\",128,128,\"M\",256,256,256,\"M\",512,512,512,\"M\",512,512,512,\"M\"]}"},
    {"vgg16_bn", "VGG",
     "{\"cfg\":[64,64,\"M\",128,128,\"M\",256,256,256,\"M\",512,512,512,\"M\",512,512,512,\"M\"],\"norm_la"
     "yer\":\"BatchNorm2d\"}"},
    {"vgg19", "VGG",
     "{\"cfg\":[64,64,\"M\",128,128,\"M\",256,256,256,256,\"M\",512,512,512,512,\"M\",512,512,512,512,\"M"
     "\"]}"},
    {"vgg19_bn", "VGG",
     "{\"cfg\":[64,64,\"M\",128,128,\"M\",256,256,256,256,\"M\",512,512,512,512,\"M\",512,512,512,512,\"M"
     "\"],\"norm_layer\":\"BatchNorm2d\"}"},
    {"vit_base_patch8_224", "VisionTransformer",
     "{\"patch_size\":8,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"img_size\":224}"},
    {"vit_base_patch14_dinov2", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"init_values\":1e-05,\"img_size"
     "\":518}"},
    {"vit_base_patch14_reg1_tipsv2", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"init_values\":1.0,\"reg_tokens"
     "\":1,\"no_embed_class\":true,\"img_size\":448}"},
    {"vit_base_patch14_reg4_dinov2", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"init_values\":1e-05,\"reg_token"
     "s\":4,\"no_embed_class\":true,\"img_size\":518}"},
    {"vit_base_patch16_224", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"img_size\":224}"},
    {"vit_base_patch16_224_miil", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"qkv_bias\":false,\"img_size\":2"
     "24}"},
    {"vit_base_patch16_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"img_size\":384}"},
    {"vit_base_patch16_clip_224", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"pre_norm\":true,\"img_size\":22"
     "4}"},
    {"vit_base_patch16_clip_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"pre_norm\":true,\"img_size\":38"
     "4}"},
    {"vit_base_patch16_clip_quickgelu_224", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"pre_norm\":true,\"act_layer\":"
     "\"quick_gelu\",\"img_size\":224}"},
    {"vit_base_patch16_gap_224", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":16,\"class_token\":false,\"global_po"
     "ol\":\"avg\",\"fc_norm\":false,\"img_size\":224}"},
    {"vit_base_patch16_plus_240", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":896,\"depth\":12,\"num_heads\":14,\"init_values\":1e-05,\"img_size"
     "\":240}"},
    {"vit_base_patch16_plus_clip_240", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":896,\"depth\":12,\"num_heads\":14,\"pre_norm\":true,\"img_size\":24"
     "0}"},
    {"vit_base_patch16_radio_v3", "VisionTransformer",
     "{\"img_size\":512,\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"init_values\":"
     "1e-05,\"reg_tokens\":7,\"no_embed_class\":true,\"final_norm\":false}"},
    {"vit_base_patch16_reg4_gap_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"class_token\":false,\"no_embed_"
     "class\":true,\"global_pool\":\"avg\",\"reg_tokens\":4,\"img_size\":256}"},
    {"vit_base_patch16_siglip_224", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"class_token\":false,\"global_po"
     "ol\":\"map\",\"img_size\":224}"},
    {"vit_base_patch16_siglip_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"class_token\":false,\"global_po"
     "ol\":\"map\",\"img_size\":256}"},
    {"vit_base_patch16_siglip_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"class_token\":false,\"global_po"
     "ol\":\"map\",\"img_size\":384}"},
    {"vit_base_patch16_siglip_512", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"class_token\":false,\"global_po"
     "ol\":\"map\",\"img_size\":512}"},
    {"vit_base_patch16_siglip_gap_224", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"class_token\":false,\"global_po"
     "ol\":\"avg\",\"fc_norm\":false,\"img_size\":224}"},
    {"vit_base_patch16_siglip_gap_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"class_token\":false,\"global_po"
     "ol\":\"avg\",\"fc_norm\":false,\"img_size\":256}"},
    {"vit_base_patch16_siglip_gap_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"class_token\":false,\"global_po"
     "ol\":\"avg\",\"fc_norm\":false,\"img_size\":384}"},
    {"vit_base_patch16_siglip_gap_512", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"class_token\":false,\"global_po"
     "ol\":\"avg\",\"fc_norm\":false,\"img_size\":512}"},
    {"vit_base_patch32_224", "VisionTransformer",
     "{\"patch_size\":32,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"img_size\":224}"},
    {"vit_base_patch32_384", "VisionTransformer",
     "{\"patch_size\":32,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"img_size\":384}"},
    {"vit_base_patch32_clip_224", "VisionTransformer",
     "{\"patch_size\":32,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"pre_norm\":true,\"img_size\":22"
     "4}"},
    {"vit_base_patch32_clip_256", "VisionTransformer",
     "{\"patch_size\":32,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"pre_norm\":true,\"img_size\":25"
     "6}"},
    {"vit_base_patch32_clip_384", "VisionTransformer",
     "{\"patch_size\":32,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"pre_norm\":true,\"img_size\":38"
     "4}"},
    {"vit_base_patch32_clip_448", "VisionTransformer",
     "{\"patch_size\":32,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"pre_norm\":true,\"img_size\":44"
     "8}"},
    {"vit_base_patch32_clip_quickgelu_224", "VisionTransformer",
     "{\"patch_size\":32,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"pre_norm\":true,\"act_layer\":"
     "\"quick_gelu\",\"img_size\":224}"},
    {"vit_base_patch32_plus_256", "VisionTransformer",
     "{\"patch_size\":32,\"embed_dim\":896,\"depth\":12,\"num_heads\":14,\"init_values\":1e-05,\"img_size"
     "\":256}"},
    {"vit_base_patch32_siglip_256", "VisionTransformer",
     "{\"patch_size\":32,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"class_token\":false,\"global_po"
     "ol\":\"map\",\"act_layer\":\"gelu_tanh\",\"img_size\":256}"},
    {"vit_base_patch32_siglip_gap_256", "VisionTransformer",
     "{\"patch_size\":32,\"embed_dim\":768,\"depth\":12,\"num_heads\":12,\"class_token\":false,\"global_po"
     "ol\":\"avg\",\"fc_norm\":false,\"act_layer\":\"gelu_tanh\",\"img_size\":256}"},
    {"vit_base_resnet26d_224", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[2,2,2,2],\"stem_width\":32,\"stem_type\":\"deep\",\"avg_down\""
     ":true}"},
    {"vit_base_resnet50d_224", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,6,3],\"stem_width\":32,\"stem_type\":\"deep\",\"avg_down\""
     ":true}"},
    {"vit_betwixt_patch16_gap_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":640,\"depth\":12,\"num_heads\":10,\"class_token\":false,\"global_po"
     "ol\":\"avg\",\"qkv_bias\":false,\"init_values\":1e-06,\"fc_norm\":false,\"img_size\":256}"},
    {"vit_betwixt_patch16_reg1_gap_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":640,\"depth\":12,\"num_heads\":10,\"init_values\":1e-05,\"class_tok"
     "en\":false,\"no_embed_class\":true,\"reg_tokens\":1,\"global_pool\":\"avg\",\"img_size\":256}"},
    {"vit_betwixt_patch16_reg4_gap_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":640,\"depth\":12,\"num_heads\":10,\"init_values\":1e-05,\"class_tok"
     "en\":false,\"no_embed_class\":true,\"reg_tokens\":4,\"global_pool\":\"avg\",\"img_size\":256}"},
    {"vit_betwixt_patch16_reg4_gap_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":640,\"depth\":12,\"num_heads\":10,\"init_values\":1e-05,\"class_tok"
     "en\":false,\"no_embed_class\":true,\"reg_tokens\":4,\"global_pool\":\"avg\",\"img_size\":384}"},
    {"vit_betwixt_patch32_clip_224", "VisionTransformer",
     "{\"patch_size\":32,\"embed_dim\":640,\"depth\":12,\"num_heads\":10,\"pre_norm\":true,\"img_size\":22"
     "4}"},
    {"vit_giant_patch14_224", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1408,\"mlp_ratio\":4.363636363636363,\"depth\":40,\"num_heads\":16,"
     "\"img_size\":224}"},
    {"vit_giant_patch14_clip_224", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1408,\"mlp_ratio\":4.363636363636363,\"depth\":40,\"num_heads\":16,"
     "\"pre_norm\":true,\"img_size\":224}"},
    {"vit_giant_patch14_dinov2", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1536,\"depth\":40,\"num_heads\":24,\"init_values\":1e-05,\"mlp_rati"
     "o\":5.33334,\"mlp_layer\":\"GluMlp\",\"act_layer\":\"SiLU\",\"img_size\":518}"},
    {"vit_giant_patch14_reg1_tipsv2", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1536,\"depth\":40,\"num_heads\":24,\"init_values\":1.0,\"mlp_ratio"
     "\":5.33334,\"mlp_layer\":\"GluMlp\",\"act_layer\":\"SiLU\",\"reg_tokens\":1,\"no_embed_class\":true,"
     "\"img_size\":448}"},
    {"vit_giant_patch14_reg4_dinov2", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1536,\"depth\":40,\"num_heads\":24,\"init_values\":1e-05,\"mlp_rati"
     "o\":5.33334,\"mlp_layer\":\"GluMlp\",\"act_layer\":\"SiLU\",\"reg_tokens\":4,\"no_embed_class\":true"
     ",\"img_size\":518}"},
    {"vit_giant_patch16_gap_224", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1408,\"depth\":40,\"num_heads\":16,\"mlp_ratio\":4.363636363636363,"
     "\"class_token\":false,\"global_pool\":\"avg\",\"fc_norm\":false,\"img_size\":224}"},
    {"vit_giant_patch16_radio_v3", "VisionTransformer",
     "{\"img_size\":512,\"patch_size\":16,\"embed_dim\":1536,\"depth\":40,\"num_heads\":24,\"reg_tokens\":"
     "7,\"no_embed_class\":true,\"final_norm\":false}"},
    {"vit_giantopt_patch16_siglip_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1536,\"depth\":40,\"num_heads\":16,\"class_token\":false,\"global_p"
     "ool\":\"map\",\"act_layer\":\"gelu_tanh\",\"img_size\":256}"},
    {"vit_giantopt_patch16_siglip_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1536,\"depth\":40,\"num_heads\":16,\"class_token\":false,\"global_p"
     "ool\":\"map\",\"act_layer\":\"gelu_tanh\",\"img_size\":384}"},
    {"vit_giantopt_patch16_siglip_gap_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1536,\"depth\":40,\"num_heads\":16,\"class_token\":false,\"global_p"
     "ool\":\"avg\",\"fc_norm\":false,\"act_layer\":\"gelu_tanh\",\"img_size\":256}"},
    {"vit_giantopt_patch16_siglip_gap_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1536,\"depth\":40,\"num_heads\":16,\"class_token\":false,\"global_p"
     "ool\":\"avg\",\"fc_norm\":false,\"act_layer\":\"gelu_tanh\",\"img_size\":384}"},
    {"vit_gigantic_patch14_224", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1664,\"mlp_ratio\":4.923076923076923,\"depth\":48,\"num_heads\":16,"
     "\"img_size\":224}"},
    {"vit_gigantic_patch14_clip_224", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1664,\"mlp_ratio\":4.923076923076923,\"depth\":48,\"num_heads\":16,"
     "\"pre_norm\":true,\"img_size\":224}"},
    {"vit_gigantic_patch14_clip_378", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1664,\"mlp_ratio\":4.923076923076923,\"depth\":48,\"num_heads\":16,"
     "\"pre_norm\":true,\"img_size\":378}"},
    {"vit_gigantic_patch14_clip_quickgelu_224", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1664,\"mlp_ratio\":4.923076923076923,\"depth\":48,\"num_heads\":16,"
     "\"pre_norm\":true,\"act_layer\":\"quick_gelu\",\"img_size\":224}"},
    {"vit_huge_patch14_224", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1280,\"depth\":32,\"num_heads\":16,\"img_size\":224}"},
    {"vit_huge_patch14_clip_224", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1280,\"depth\":32,\"num_heads\":16,\"pre_norm\":true,\"img_size\":2"
     "24}"},
    {"vit_huge_patch14_clip_336", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1280,\"depth\":32,\"num_heads\":16,\"pre_norm\":true,\"img_size\":3"
     "36}"},
    {"vit_huge_patch14_clip_378", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1280,\"depth\":32,\"num_heads\":16,\"pre_norm\":true,\"img_size\":3"
     "78}"},
    {"vit_huge_patch14_clip_quickgelu_224", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1280,\"depth\":32,\"num_heads\":16,\"pre_norm\":true,\"act_layer\":"
     "\"quick_gelu\",\"img_size\":224}"},
    {"vit_huge_patch14_clip_quickgelu_378", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1280,\"depth\":32,\"num_heads\":16,\"pre_norm\":true,\"act_layer\":"
     "\"quick_gelu\",\"img_size\":378}"},
    {"vit_huge_patch14_gap_224", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1280,\"depth\":32,\"num_heads\":16,\"class_token\":false,\"global_p"
     "ool\":\"avg\",\"fc_norm\":false,\"img_size\":224}"},
    {"vit_huge_patch16_gap_448", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1280,\"depth\":32,\"num_heads\":16,\"class_token\":false,\"global_p"
     "ool\":\"avg\",\"fc_norm\":false,\"img_size\":448}"},
    {"vit_huge_patch16_radio_v3", "VisionTransformer",
     "{\"img_size\":512,\"patch_size\":16,\"embed_dim\":1280,\"depth\":32,\"num_heads\":16,\"reg_tokens\":"
     "7,\"no_embed_class\":true,\"final_norm\":false}"},
    {"vit_huge_patch16_radio_v4", "VisionTransformer",
     "{\"img_size\":512,\"patch_size\":16,\"embed_dim\":1280,\"depth\":32,\"num_heads\":16,\"reg_tokens\":"
     "9,\"no_embed_class\":true,\"final_norm\":false}"},
    {"vit_large_patch14_224", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"img_size\":224}"},
    {"vit_large_patch14_clip_224", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"pre_norm\":true,\"img_size\":2"
     "24}"},
    {"vit_large_patch14_clip_336", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"pre_norm\":true,\"img_size\":3"
     "36}"},
    {"vit_large_patch14_clip_quickgelu_224", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"pre_norm\":true,\"act_layer\":"
     "\"quick_gelu\",\"img_size\":224}"},
    {"vit_large_patch14_clip_quickgelu_336", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"pre_norm\":true,\"act_layer\":"
     "\"quick_gelu\",\"img_size\":336}"},
    {"vit_large_patch14_dinov2", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"init_values\":1e-05,\"img_size"
     "\":518}"},
    {"vit_large_patch14_reg1_tipsv2", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"init_values\":1.0,\"reg_tokens"
     "\":1,\"no_embed_class\":true,\"img_size\":448}"},
    {"vit_large_patch14_reg4_dinov2", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"init_values\":1e-05,\"reg_toke"
     "ns\":4,\"no_embed_class\":true,\"img_size\":518}"},
    {"vit_large_patch16_224", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"img_size\":224}"},
    {"vit_large_patch16_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"img_size\":384}"},
    {"vit_large_patch16_radio_v3", "VisionTransformer",
     "{\"img_size\":512,\"patch_size\":16,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"init_values\""
     ":1e-05,\"reg_tokens\":7,\"no_embed_class\":true,\"final_norm\":false}"},
    {"vit_large_patch16_siglip_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"class_token\":false,\"global_p"
     "ool\":\"map\",\"img_size\":256}"},
    {"vit_large_patch16_siglip_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"class_token\":false,\"global_p"
     "ool\":\"map\",\"img_size\":384}"},
    {"vit_large_patch16_siglip_512", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"class_token\":false,\"global_p"
     "ool\":\"map\",\"act_layer\":\"gelu_tanh\",\"img_size\":512}"},
    {"vit_large_patch16_siglip_gap_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"class_token\":false,\"global_p"
     "ool\":\"avg\",\"fc_norm\":false,\"img_size\":256}"},
    {"vit_large_patch16_siglip_gap_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"class_token\":false,\"global_p"
     "ool\":\"avg\",\"fc_norm\":false,\"img_size\":384}"},
    {"vit_large_patch16_siglip_gap_512", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"class_token\":false,\"global_p"
     "ool\":\"avg\",\"fc_norm\":false,\"act_layer\":\"gelu_tanh\",\"img_size\":512}"},
    {"vit_large_patch32_224", "VisionTransformer",
     "{\"patch_size\":32,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"img_size\":224}"},
    {"vit_large_patch32_384", "VisionTransformer",
     "{\"patch_size\":32,\"embed_dim\":1024,\"depth\":24,\"num_heads\":16,\"img_size\":384}"},
    {"vit_little_patch16_reg1_gap_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":320,\"depth\":14,\"num_heads\":5,\"init_values\":1e-05,\"mlp_ratio"
     "\":5.6,\"class_token\":false,\"no_embed_class\":true,\"reg_tokens\":1,\"global_pool\":\"avg\",\"img_s"
     "ize\":256}"},
    {"vit_little_patch16_reg4_gap_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":320,\"depth\":14,\"num_heads\":5,\"init_values\":1e-05,\"mlp_ratio"
     "\":5.6,\"class_token\":false,\"no_embed_class\":true,\"reg_tokens\":4,\"global_pool\":\"avg\",\"img_s"
     "ize\":256}"},
    {"vit_medium_patch16_clip_224", "VisionTransformer",
     "{\"embed_dim\":512,\"depth\":12,\"num_heads\":8,\"pre_norm\":true,\"img_size\":224}"},
    {"vit_medium_patch16_gap_240", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":512,\"depth\":12,\"num_heads\":8,\"class_token\":false,\"global_poo"
     "l\":\"avg\",\"qkv_bias\":false,\"init_values\":1e-06,\"fc_norm\":false,\"img_size\":240}"},
    {"vit_medium_patch16_gap_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":512,\"depth\":12,\"num_heads\":8,\"class_token\":false,\"global_poo"
     "l\":\"avg\",\"qkv_bias\":false,\"init_values\":1e-06,\"fc_norm\":false,\"img_size\":256}"},
    {"vit_medium_patch16_gap_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":512,\"depth\":12,\"num_heads\":8,\"class_token\":false,\"global_poo"
     "l\":\"avg\",\"qkv_bias\":false,\"init_values\":1e-06,\"fc_norm\":false,\"img_size\":384}"},
    {"vit_medium_patch16_reg1_gap_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":512,\"depth\":12,\"num_heads\":8,\"init_values\":1e-05,\"class_toke"
     "n\":false,\"no_embed_class\":true,\"reg_tokens\":1,\"global_pool\":\"avg\",\"img_size\":256}"},
    {"vit_medium_patch16_reg4_gap_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":512,\"depth\":12,\"num_heads\":8,\"init_values\":1e-05,\"class_toke"
     "n\":false,\"no_embed_class\":true,\"reg_tokens\":4,\"global_pool\":\"avg\",\"img_size\":256}"},
    {"vit_medium_patch32_clip_224", "VisionTransformer",
     "{\"patch_size\":32,\"embed_dim\":512,\"depth\":12,\"num_heads\":8,\"pre_norm\":true,\"img_size\":224"
     "}"},
    {"vit_mediumd_patch16_reg4_gap_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":512,\"depth\":20,\"num_heads\":8,\"init_values\":1e-05,\"class_toke"
     "n\":false,\"no_embed_class\":true,\"reg_tokens\":4,\"global_pool\":\"avg\",\"img_size\":256}"},
    {"vit_mediumd_patch16_reg4_gap_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":512,\"depth\":20,\"num_heads\":8,\"init_values\":1e-05,\"class_toke"
     "n\":false,\"no_embed_class\":true,\"reg_tokens\":4,\"global_pool\":\"avg\",\"img_size\":384}"},
    {"vit_small_patch8_224", "VisionTransformer",
     "{\"patch_size\":8,\"embed_dim\":384,\"depth\":12,\"num_heads\":6,\"img_size\":224}"},
    {"vit_small_patch14_dinov2", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":384,\"depth\":12,\"num_heads\":6,\"init_values\":1e-05,\"img_size\""
     ":518}"},
    {"vit_small_patch14_reg4_dinov2", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":384,\"depth\":12,\"num_heads\":6,\"init_values\":1e-05,\"reg_tokens"
     "\":4,\"no_embed_class\":true,\"img_size\":518}"},
    {"vit_small_patch16_36x1_224", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":384,\"depth\":36,\"num_heads\":6,\"init_values\":1e-05,\"img_size\""
     ":224}"},
    {"vit_small_patch16_224", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":384,\"depth\":12,\"num_heads\":6,\"img_size\":224}"},
    {"vit_small_patch16_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":384,\"depth\":12,\"num_heads\":6,\"img_size\":384}"},
    {"vit_small_patch32_224", "VisionTransformer",
     "{\"patch_size\":32,\"embed_dim\":384,\"depth\":12,\"num_heads\":6,\"img_size\":224}"},
    {"vit_small_patch32_384", "VisionTransformer",
     "{\"patch_size\":32,\"embed_dim\":384,\"depth\":12,\"num_heads\":6,\"img_size\":384}"},
    {"vit_small_resnet26d_224", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[2,2,2,2],\"stem_width\":32,\"stem_type\":\"deep\",\"avg_down\""
     ":true}"},
    {"vit_small_resnet50d_s16_224", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,6,3],\"stem_width\":32,\"stem_type\":\"deep\",\"avg_down\""
     ":true}"},
    {"vit_so150m2_patch16_reg1_gap_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":832,\"depth\":21,\"num_heads\":13,\"mlp_ratio\":2.6153846153846154,"
     "\"init_values\":1e-05,\"qkv_bias\":false,\"class_token\":false,\"reg_tokens\":1,\"global_pool\":\"av"
     "g\",\"img_size\":256}"},
    {"vit_so150m2_patch16_reg1_gap_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":832,\"depth\":21,\"num_heads\":13,\"mlp_ratio\":2.6153846153846154,"
     "\"init_values\":1e-05,\"qkv_bias\":false,\"class_token\":false,\"reg_tokens\":1,\"global_pool\":\"av"
     "g\",\"img_size\":384}"},
    {"vit_so150m2_patch16_reg1_gap_448", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":832,\"depth\":21,\"num_heads\":13,\"mlp_ratio\":2.6153846153846154,"
     "\"init_values\":1e-05,\"qkv_bias\":false,\"class_token\":false,\"reg_tokens\":1,\"global_pool\":\"av"
     "g\",\"img_size\":448}"},
    {"vit_so150m_patch16_reg4_gap_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":896,\"depth\":18,\"num_heads\":14,\"mlp_ratio\":2.572,\"class_token"
     "\":false,\"reg_tokens\":4,\"global_pool\":\"avg\",\"fc_norm\":false,\"img_size\":256}"},
    {"vit_so150m_patch16_reg4_gap_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":896,\"depth\":18,\"num_heads\":14,\"mlp_ratio\":2.572,\"class_token"
     "\":false,\"reg_tokens\":4,\"global_pool\":\"avg\",\"fc_norm\":false,\"img_size\":384}"},
    {"vit_so150m_patch16_reg4_map_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":896,\"depth\":18,\"num_heads\":14,\"mlp_ratio\":2.572,\"class_token"
     "\":false,\"reg_tokens\":4,\"global_pool\":\"map\",\"img_size\":256}"},
    {"vit_so400m_patch14_reg1_tipsv2", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1152,\"depth\":27,\"num_heads\":16,\"init_values\":1.0,\"mlp_ratio"
     "\":3.736111111111111,\"reg_tokens\":1,\"no_embed_class\":true,\"img_size\":448}"},
    {"vit_so400m_patch14_siglip_224", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1152,\"depth\":27,\"num_heads\":16,\"mlp_ratio\":3.7362,\"class_tok"
     "en\":false,\"global_pool\":\"map\",\"img_size\":224}"},
    {"vit_so400m_patch14_siglip_378", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1152,\"depth\":27,\"num_heads\":16,\"mlp_ratio\":3.7362,\"class_tok"
     "en\":false,\"global_pool\":\"map\",\"img_size\":378}"},
    {"vit_so400m_patch14_siglip_384", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1152,\"depth\":27,\"num_heads\":16,\"mlp_ratio\":3.7362,\"class_tok"
     "en\":false,\"global_pool\":\"map\",\"img_size\":384}"},
    {"vit_so400m_patch14_siglip_gap_224", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1152,\"depth\":27,\"num_heads\":16,\"mlp_ratio\":3.7362,\"class_tok"
     "en\":false,\"global_pool\":\"avg\",\"fc_norm\":false,\"img_size\":224}"},
    {"vit_so400m_patch14_siglip_gap_378", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1152,\"depth\":27,\"num_heads\":16,\"mlp_ratio\":3.7362,\"class_tok"
     "en\":false,\"global_pool\":\"avg\",\"fc_norm\":false,\"img_size\":378}"},
    {"vit_so400m_patch14_siglip_gap_384", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1152,\"depth\":27,\"num_heads\":16,\"mlp_ratio\":3.7362,\"class_tok"
     "en\":false,\"global_pool\":\"avg\",\"fc_norm\":false,\"img_size\":384}"},
    {"vit_so400m_patch14_siglip_gap_448", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1152,\"depth\":27,\"num_heads\":16,\"mlp_ratio\":3.7362,\"class_tok"
     "en\":false,\"global_pool\":\"avg\",\"fc_norm\":false,\"img_size\":448}"},
    {"vit_so400m_patch14_siglip_gap_896", "VisionTransformer",
     "{\"patch_size\":14,\"embed_dim\":1152,\"depth\":27,\"num_heads\":16,\"mlp_ratio\":3.7362,\"class_tok"
     "en\":false,\"global_pool\":\"avg\",\"fc_norm\":false,\"img_size\":896}"},
    {"vit_so400m_patch16_radio_v4", "VisionTransformer",
     "{\"img_size\":512,\"patch_size\":16,\"embed_dim\":1152,\"depth\":27,\"num_heads\":16,\"mlp_ratio\":3"
     ".736111111111111,\"reg_tokens\":9,\"no_embed_class\":true,\"final_norm\":false}"},
    {"vit_so400m_patch16_siglip_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1152,\"depth\":27,\"num_heads\":16,\"mlp_ratio\":3.7362,\"class_tok"
     "en\":false,\"global_pool\":\"map\",\"act_layer\":\"gelu_tanh\",\"img_size\":256}"},
    {"vit_so400m_patch16_siglip_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1152,\"depth\":27,\"num_heads\":16,\"mlp_ratio\":3.7362,\"class_tok"
     "en\":false,\"global_pool\":\"map\",\"act_layer\":\"gelu_tanh\",\"img_size\":384}"},
    {"vit_so400m_patch16_siglip_512", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1152,\"depth\":27,\"num_heads\":16,\"mlp_ratio\":3.7362,\"class_tok"
     "en\":false,\"global_pool\":\"map\",\"act_layer\":\"gelu_tanh\",\"img_size\":512}"},
    {"vit_so400m_patch16_siglip_gap_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1152,\"depth\":27,\"num_heads\":16,\"mlp_ratio\":3.7362,\"class_tok"
     "en\":false,\"global_pool\":\"avg\",\"fc_norm\":false,\"act_layer\":\"gelu_tanh\",\"img_size\":256}"},
    {"vit_so400m_patch16_siglip_gap_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1152,\"depth\":27,\"num_heads\":16,\"mlp_ratio\":3.7362,\"class_tok"
     "en\":false,\"global_pool\":\"avg\",\"fc_norm\":false,\"act_layer\":\"gelu_tanh\",\"img_size\":384}"},
    {"vit_so400m_patch16_siglip_gap_512", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":1152,\"depth\":27,\"num_heads\":16,\"mlp_ratio\":3.7362,\"class_tok"
     "en\":false,\"global_pool\":\"avg\",\"fc_norm\":false,\"act_layer\":\"gelu_tanh\",\"img_size\":512}"},
    {"vit_tiny_patch16_224", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":192,\"depth\":12,\"num_heads\":3,\"img_size\":224}"},
    {"vit_tiny_patch16_384", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":192,\"depth\":12,\"num_heads\":3,\"img_size\":384}"},
    {"vit_wee_patch16_reg1_gap_256", "VisionTransformer",
     "{\"patch_size\":16,\"embed_dim\":256,\"depth\":14,\"num_heads\":4,\"init_values\":1e-05,\"mlp_ratio"
     "\":5,\"class_token\":false,\"no_embed_class\":true,\"reg_tokens\":1,\"global_pool\":\"avg\",\"img_siz"
     "e\":256}"},
    {"vit_xsmall_patch16_clip_224", "VisionTransformer",
     "{\"embed_dim\":256,\"depth\":10,\"num_heads\":4,\"pre_norm\":true,\"img_size\":224}"},
    {"wide_resnet50_2", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,6,3],\"base_width\":128}"},
    {"wide_resnet101_2", "ResNet",
     "{\"block\":\"Bottleneck\",\"layers\":[3,4,23,3],\"base_width\":128}"},
    {NULL, NULL, NULL}};
