"""What orbtax itself costs, beside other tools and bare programs; for its developers."""
