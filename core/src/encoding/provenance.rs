//! The mark of an image that a trained model made: the IPTC digital source type in an XMP packet,
//! which search engines and image tools read from PNG, WebP, JPG and AVIF files.

/// URI of the source type, from IPTC NewsCodes, <https://cv.iptc.org/newscodes/digitalsourcetype/>.
pub const DIGITAL_SOURCE_TYPE: &str = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia";

/// Returns the XMP packet (ISO 16684-1) that names the source type. It is read-only (`end="r"`),
/// so it needs no padding.
pub fn xmp_packet() -> String {
    format!(
        "<?xpacket begin=\"\u{feff}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\
         <x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\
         <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\
         <rdf:Description rdf:about=\"\" xmlns:Iptc4xmpExt=\"http://iptc.org/std/Iptc4xmpExt/2008-02-29/\">\
         <Iptc4xmpExt:DigitalSourceType>{DIGITAL_SOURCE_TYPE}</Iptc4xmpExt:DigitalSourceType>\
         </rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end=\"r\"?>"
    )
}
