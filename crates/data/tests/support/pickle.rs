//! Pickles as Python 2 and numpy 1 wrote mini-ImageNet's: strings are raw bytes.

use super::picture;

/// The three files of mini-ImageNet.
pub const FILES: [&str; 3] =
    ["mini-imagenet-cache-train.pkl", "mini-imagenet-cache-val.pkl", "mini-imagenet-cache-test.pkl"];

/// Images of 8 rows and 12 columns, each of a class and with a blue of its own.
pub fn pickled(images: &[(&str, u8)]) -> Vec<u8> {
    let pixels = images.iter().flat_map(|(_, blue)| picture(12, 8, *blue).into_bytes()).collect();
    written([images.len() as u32, 8, 12, 3], pixels, images)
}

/// Images of zeros, as many and as large as `shape` says, of which `images` have classes.
pub fn of_shape(shape: [u32; 4], images: &[(&str, u8)]) -> Vec<u8> {
    written(shape, vec![0; shape.iter().product::<u32>() as usize], images)
}

fn written(shape: [u32; 4], pixels: Vec<u8>, images: &[(&str, u8)]) -> Vec<u8> {
    let string = |text: &str| [&[b'U', text.len() as u8][..], text.as_bytes()].concat();
    let mut p = b"\x80\x02}q\x00(".to_vec();
    p.extend(string("image_data"));
    p.extend(b"cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\x00\x85U\x01b\x87R(K\x01(");
    for size in shape {
        p.push(b'J');
        p.extend(size.to_le_bytes());
    }
    p.extend(
        b"tcnumpy\ndtype\nq\x03U\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T",
    );
    p.extend((pixels.len() as u32).to_le_bytes());
    p.extend(pixels);
    p.extend(b"tb");
    p.extend(string("class_dict"));
    p.extend(b"}(");
    let mut classes: Vec<&str> = images.iter().map(|(class, _)| *class).collect();
    classes.dedup();
    for class in classes {
        p.extend(string(class));
        p.extend(b"](");
        let members = images.iter().enumerate().filter(|(_, (other, _))| *other == class);
        members.for_each(|(index, _)| p.extend([b'K', index as u8]));
        p.push(b'e');
    }
    p.extend(b"uu.");
    p
}
